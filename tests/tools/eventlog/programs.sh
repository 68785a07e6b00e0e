#!/usr/bin/env bash
# The real reader takes the logs of real processes: of nib's programs, of 8 threads, of children of fork, of one that
# was killed and recovered.
#   programs.sh LIBRARY COMMAND DEMO-JIT PROGRAMS THREADS_HOST DESCENDANTS_HOST
# JITQUILL_LONG=1: of all programs, with calls.
set -euo pipefail
library=$1 command=$2 demo=$3 programs=$4 threads=$5 descendants=$6
PATH=$PATH:$(dirname "$0")/../../../build/tools/ghc-events/usr/bin # where cmake/test.sh unpacks it
command -v ghc-events >/dev/null || { echo "ghc-events is not installed (Debian: libghc-ghc-events-dev)"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C.UTF-8 # it prints texts

# run OPTIONS PROGRAM...
run() {
  rm -rf "$folder/out"
  JITQUILL_OPTIONS="dir=$folder/out formats=eventlog $1" LD_PRELOAD=$library "${@:2}" >"$folder/printed" 2>"$folder/errors" </dev/null
}
# Each log is read to its end, and each of the rules holds. `inc` says where it stops; `show` does not.
judge() {
  local log what
  for log in "$folder"/out/*-[0-9]*/*.eventlog; do
    ghc-events inc "$log" >"$folder/said" || { tail -3 "$folder/said"; echo "not read: $log"; exit 1; }
    tail -1 "$folder/said" | grep -q 'deleted capset 1' || { tail -3 "$folder/said"; echo "no end: $log"; exit 1; }
    for what in threads threadpool threadrun tasks; do
      ghc-events validate $what "$log" >"$folder/validated"
      grep -q '^Valid' "$folder/validated" || { head -5 "$folder/validated"; echo "not valid: $what"; exit 1; }
    done
  done
  [ -s "$folder/said" ] || { echo "no log"; exit 1; }
}
expect() { # TIMES PATTERN
  [ "$(grep -c "$2" "$folder/said")" -ge "$1" ] || { echo "$2: not $1 times"; head -50 "$folder/said"; exit 1; }
}

if [ -n "${JITQUILL_LONG:-}" ]; then
  for program in "$programs"/*.nib; do
    name=$(basename "$program" .nib)
    # ghc-events takes 400 bytes of memory for each event.
    hooks='hooks=*' && [ $name != fib ] || hooks='hooks=main'
    run "$hooks memory=512M" "$demo" --sites=always "$program"
    [ "$(cat "$folder"/out/*-[0-9]*/*.eventlog | wc -c)" -lt 40000000 ] || run hooks=main "$demo" --sites=always "$program"
    cmp "$folder/printed" "$programs/$name.out"
    judge
    run "" "$demo" --gc-stress "$program"
    judge
  done
fi
run "" "$demo" --gc-stress "$programs/producers.nib"
judge
expect 11 'creating thread'
expect 50 'all caps stopped for GC'
expect 1 'marker: one thread on each side'
expect 1 'RTS version "nib"'
expect 4 'Info Table: .*producers.nib:'
run 'hooks=*' "$demo" --sites=always "$programs/parallel_sum.nib"
judge
run 'hooks=* eventlog.own=0 eventlog.profile=ticky,samples eventlog.interval=1 eventlog.messages=1' \
  "$demo" --sites=always "$programs/parallel_sum.nib"
judge
expect 2 'ticky counter definition'
expect 2 'ticky counter sample'
expect 1 'prof sample'
expect 2 'START by_threads'
log=$(echo "$folder"/out/*-[0-9]*/*.eventlog)
ghc-events merge "$folder/merged" "$log" "$log" >"$folder/said" || { echo "not merged"; exit 1; }
run 'policy=flight memory=1300k' "$demo" --gc-stress "$programs/producers.nib"
judge
expect 1 'records of this thread are lost'
run 'max_bytes=64k' "$demo" --gc-stress "$programs/producers.nib" # each log is one
rm -f "$folder"/out/*-[0-9]*/demo-jit.eventlog
for log in "$folder"/out/*-[0-9]*/*.eventlog; do
  ghc-events inc "$log" >"$folder/said" || { echo "not read: $log"; exit 1; }
  for what in threads threadpool threadrun tasks; do
    ghc-events validate $what "$log" >"$folder/validated"
    grep -q '^Valid' "$folder/validated" || { head -5 "$folder/validated"; echo "not valid alone: $what $log"; exit 1; }
  done
done
expect 1 'RTS version "nib"'
run 'hooks=*' "$threads" short 8
judge
expect 8 'task .* deleted'
run 'hooks=*' "$descendants"
judge
[ "$(ls "$folder"/out/*-[0-9]*/*.eventlog | wc -l)" -eq 3 ] || { echo "not a log for each child"; exit 1; }

# Killed: it cannot be told when, so it may be at any moment of the program.
rm -rf "$folder/out"
JITQUILL_OPTIONS="dir=$folder/out formats=eventlog" LD_PRELOAD=$library "$demo" --gc-stress "$programs/producers.nib" \
  >/dev/null 2>&1 &
host=$!
until [ -s "$(echo "$folder"/out/*-[0-9]*/*.eventlog)" ]; do sleep 0.01; done
kill -KILL $host
wait $host 2>/dev/null || true
for log in "$folder"/out/*-[0-9]*/*.eventlog; do
  ghc-events inc "$log" >"$folder/said" || { tail -3 "$folder/said"; echo "not read before it is recovered"; exit 1; }
done
"$command" recover "$folder"/out/*-[0-9]*/ >"$folder/recovered"
judge
