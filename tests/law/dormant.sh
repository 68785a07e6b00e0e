#!/usr/bin/env bash
# A preloaded program that jits nothing is left as it was: no file, no folder, no descriptor, no thread, nothing printed.
set -euo pipefail
library=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

printed=$(LD_PRELOAD=$library JITQUILL_OPTIONS='dir=out nonsense=1' sh -c true 2>&1)
[ -z "$printed" ] || { echo "printed: $printed"; exit 1; }
[ -z "$(ls -A)" ] || { echo "left: $(ls -A)"; exit 1; }

# The look itself must work: the library is there, and the same look without it counts the same.
# (Globs, not ls: a pipe of the look's own would be counted now and then.)
look='grep -c libjitquill /proc/$$/maps; set -- /proc/$$/fd/*; echo $#; set -- /proc/$$/task/*; echo $#'
with=$(LD_PRELOAD=$library sh -c "$look")
without=$(sh -c "$look" || true)
[ "$(sed -n 1p <<<"$with")" -gt 0 ] || { echo "the library was not loaded"; exit 1; }
[ "$(sed -n 2,3p <<<"$with")" = "$(sed -n 2,3p <<<"$without")" ] || { echo "with: $with without: $without"; exit 1; }
