#!/usr/bin/env bash
# A nib program with formats=jitdump runs in one thread, with its dump open: writing code news needs no thread of ours.
set -euo pipefail
library=$1 demo=$2 program=$3
folder=$(mktemp -d)
trap 'kill "$pid" 2>/dev/null || true; wait "$pid" 2>/dev/null || true; rm -rf "$folder"' EXIT
cd "$folder"

LD_PRELOAD=$library JITQUILL_OPTIONS='dir=out formats=jitdump' "$demo" "$program" >/dev/null &
pid=$!
for _ in $(seq 500); do
  dump=$(compgen -G 'out/demo-jit-*/jit-*.dump' || true)
  [ -s "$dump" ] && break
  sleep 0.01
done
# The look is worth something only if the program was still there and had announced its code.
[ -s "$dump" ] || { echo "no dump"; exit 1; }
threads=("/proc/$pid/task/"*)
[ -d "${threads[0]}" ] || { echo "the program ended too early to be looked at"; exit 1; }
[ ${#threads[@]} -eq 1 ] || { echo "${#threads[@]} threads: ${threads[*]}"; exit 1; }
