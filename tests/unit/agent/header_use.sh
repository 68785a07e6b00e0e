#!/usr/bin/env bash
# The header finds the agent when it is there, and answers for itself when it is not.
set -euo pipefail
program=$1 library=$2 mode=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
preload=$library
[ "$mode" = LINK ] && preload=

# Arguments are evaluated in any order: both unloads are called, one finds the code.
got=$(LD_PRELOAD=$preload "$program")
case $got in
  "wants 1 room 1 status 0 id 1 text done unloaded 0 again -7 events 0 -2"|"wants 1 room 1 status 0 id 1 text done unloaded -7 again 0 events 0 -2") ;;
  *) echo "with the agent: $got"; exit 1 ;;
esac
[ "$(ls -A)" = jitquill.data ] || { echo "no output folder: $(ls -A)"; exit 1; }
rm -r jitquill.data
got=$(JITQUILL_OPTIONS="formats=calls" LD_PRELOAD=$preload "$program")
[[ $got = *" events 1 0" ]] || { echo "with an output of events: $got"; exit 1; }
grep -q '/\* marker: announced \*/' jitquill.data/*/calls || { echo "no mark in $(cat jitquill.data/*/calls)"; exit 1; }
[ "$mode" = LINK ] && exit 0

rm -r jitquill.data
got=$("$program")
[ "$got" = "wants 0 room 0 status -1 id 99 text - unloaded -1 again -1 events 0 -2" ] || { echo "without the agent: $got"; exit 1; }
[ -z "$(ls -A)" ] || { echo "left: $(ls -A)"; exit 1; }
