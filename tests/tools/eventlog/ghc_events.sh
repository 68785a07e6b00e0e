#!/usr/bin/env bash
# The real reader of eventlogs understands what PROGRAM puts into one, and so does ours: ghc_events.sh PROGRAM EXPECTED WALK.
# EXPECTED is what it says, in its own words.
set -euo pipefail
program=$1 expected=$(dirname "$0")/$2 walk=$3
PATH=$PATH:$(dirname "$0")/../../../build/tools/ghc-events/usr/bin # where cmake/test.sh unpacks it
command -v ghc-events >/dev/null || { echo "ghc-events is not installed (Debian: libghc-ghc-events-dev)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8 # it prints texts

"$program" "$folder/log"
# `show` ends with 0 where it could not read on; `inc` does not.
ghc-events inc "$folder/log" >"$folder/said"
diff "$expected" "$folder/said" || { echo "above: expected (<) and said by ghc-events (>) differ"; exit 1; }
for what in threads threadpool tasks sparks; do
  ghc-events validate $what "$folder/log" >"$folder/said"
  grep -q '^Valid' "$folder/said" || { cat "$folder/said"; echo "not valid: $what"; exit 1; }
done

# Ours sees the same events at the same times.
"$walk" --list "$folder/log" | grep -v BLOCK_MARKER | sed -n 's/^\([0-9]*\) cap .*/\1/p' >"$folder/walked"
ghc-events inc "$folder/log" | sed -n 's/^\([0-9]*\): .*/\1/p' | diff "$folder/walked" - ||
  { echo "above: seen by ours (<) and by ghc-events (>) differ"; exit 1; }

# A control: it must be able to complain.
head -c -40 "$folder/log" | sed 's/hello\|leader/\xFF\xFFllo/' >"$folder/broken"
if ghc-events inc "$folder/broken" >"$folder/said" 2>&1 && diff -q "$expected" "$folder/said" >/dev/null; then
  echo "it takes everything"
  exit 1
fi
