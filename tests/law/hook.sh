#!/usr/bin/env bash
# What hooks run uses general registers only and calls nothing but itself: hook.sh OBJECT...
set -euo pipefail
[ $# -gt 3 ] || { echo "only $# objects"; exit 1; }
failed=0

for object in "$@"; do
  # The one place that keeps the host's vector registers says so by its name.
  case $object in */keep_vectors.S.o) continue ;; esac
  code=$(objdump -d --no-show-raw-insn "$object")
  grep -q '<.*>:' <<<"$code" || { echo "$object: no code, the law looks in the wrong place"; failed=1; }
  if grep -E '%([xyzt]?mm|st|k)[0-9]*\b' <<<"$code"; then echo "above: $object uses vector, x87 or mask registers"; failed=1; fi
done

# Defined here: in these objects together. What is left must be the linker's.
defined=$(nm --defined-only "$@" | awk 'NF == 3 {print $3}' | sort -u)
for name in $(nm --undefined-only "$@" | awk '$1 == "U" {print $2}' | sort -u); do
  case $name in _GLOBAL_OFFSET_TABLE_) continue ;; esac
  grep -qxF "$name" <<<"$defined" || { echo "hooks need $name, which is none of theirs"; failed=1; }
done
exit $failed
