#!/usr/bin/env bash
# What nib tells the agent of its threads and its collector stands in the calls, in the orders that readers want
# (docs/runtime-events.md).
#   events.sh LIBRARY DEMO-JIT PROGRAMS
set -euo pipefail
library=$1 demo=$2 programs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# told PROGRAM [OPTION...]
told() {
  local program=$1
  shift
  rm -rf "$folder/out"
  JITQUILL_OPTIONS="dir=$folder/out formats=calls" LD_PRELOAD=$library "$demo" "$@" "$programs/$program.nib" \
    >"$folder/printed" 2>"$folder/errors"
  cmp "$folder/printed" "$programs/$program.out"
  cp "$folder"/out/latest/calls "$folder/calls"
  in_order || { head -100 "$folder/calls"; exit 1; }
}
count() { grep -c "/\* $1" "$folder/calls" || true; }
expect() { [ "$(count "$2")" -ge "$1" ] || { echo "$2: $(count "$2") times, not $1"; head -50 "$folder/calls"; exit 1; }; }
same() { [ "$(count "$1")" -eq "$(count "$2")" ] || { echo "$1: $(count "$1"); $2: $(count "$2")"; exit 1; }; }

# Each thread of the system runs one of the program's, stops it for a collection or to wait, and ends it.
in_order() {
  awk -F'[|]' '
    function wrong(what) { print what ": " $0; failed = 1 }
    !/\/\* (thread (runs|stops|finished)|collection (begins|ends))/ { next }
    { is = state[$2] }
    /thread runs/       { if (is != "" && is != "stopped") wrong("runs while " is); state[$2] = "running" }
    /thread stops/      { if (is != "running") wrong("stops while " is); state[$2] = "stopped" }
    /collection begins/ { if (is != "stopped") wrong("begins while " is); state[$2] = "collecting" }
    /collection ends/   { if (is != "collecting") wrong("ends while " is); state[$2] = "stopped" }
    /thread finished/   { if (is != "running") wrong("finished while " is); state[$2] = "finished" }
    END { for (each in state) if (state[each] != "finished") { print each " is " state[each]; failed = 1 }
          exit failed }' "$folder/calls"
}

told producers
expect 1 'runtime: nib'
expect 1 'marker: one thread on each side'
expect 1 'marker: four threads on each side'
expect 2 'message: consumed: 553605'
expect 11 'thread created'
expect 11 'thread stops: .*waits for a message'
same 'thread created' 'thread finished'
same 'thread created' 'thread named'

told producers --gc-stress
expect 100 'collection requested: by one thread'
expect 100 'heap live'
same 'collection requested' 'all stopped for collection'
same 'collection begins' 'collection ends'

told binary_trees --allocations
expect 1 'allocation site: .*make (.*binary_trees.nib:6)'
expect 1 'allocated at site'

# Each spark is run, stolen, found to be done, dropped, or still there at the end.
for options in '--workers 1' '--workers 4' '--workers 4 --gc-stress'; do
  # shellcheck disable=SC2086 # options are words
  told sparks $options
  expect 100 'spark: created'
  same 'capability taken' 'capability left'
  awk -F'[|]' '/spark: created/ { ++waiting } /spark(: (run|fizzled|collected)| stolen)/ { --waiting }
    /sparks: created/ { left[$2] = $0; sub(/.*collected.*remaining /, "", left[$2]); sub(/ .*/, "", left[$2]) }
    END { for (each in left) waiting -= left[each]; if (waiting != 0) print waiting " sparks are missing"
          exit waiting != 0 }' "$folder/calls"
done
expect 3 'spark thread created'
