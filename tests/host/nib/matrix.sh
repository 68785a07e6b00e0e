#!/usr/bin/env bash
# Programs print the same in both tiers, with everything hot, while code comes and goes, with the collector at each
# allocation; without an agent, with each format and all of them, sites on; with one worker and with four.
#   matrix.sh LIBRARY DEMO-JIT PROGRAMS        JITQUILL_LONG=1: all programs and formats; else a few
# LIBRARY "": without an agent, of a demo-jit that is built with sanitizers: what they find is a difference.
set -euo pipefail
library=$1 demo=$2 programs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0 runs=0

long=${JITQUILL_LONG:-}
tiers=(--tier1 --tier2 --hot=2 "--hot=3 --code-limit=16k")
agents=(alone all)
names=(spectral_norm nucleotides producers sparks)
workers=(4)
if [ -n "$long" ]; then
  tiers+=("" --code-limit=4k --code-limit=1k "--gc-stress --hot=1" "--gc-stress --tier2" "--gc-stress --code-limit=8k")
  agents+=(none jitdump perfmap gdb eventlog openj9 calls counts)
  workers=(1 4)
  names=()
  for each in "$programs"/*.nib; do names+=("$(basename "$each" .nib)"); done
fi
[ -n "$library" ] || agents=(alone)

# With less to do: each run takes seconds, though a million calls are written down in each format. Whole programs
# are compared with other languages elsewhere.
smaller() {
  sed -e 's/array(9, 0)/array(7, 0)/; s/n < 2000000/n < 20000/; s/1000000)/20000)/; s/size <= 12/size <= 8/; s/size = 300/size = 40/' \
    -e 's/n = 44/n = 20/; s/run(100)/run(50)/; s/run(1000)/run(300)/; s/sieve([0-9]*)/sieve(200000)/; s/run(8)/run(6)/' "$1"
}

# with AGENT COMMAND...
with() {
  local agent=$1 formats=$1
  shift
  if [ "$agent" = alone ]; then "$@"; return; fi
  [ "$agent" = all ] && formats=jitdump,perfmap,gdb,eventlog,openj9,calls,counts
  JITQUILL_OPTIONS="dir=$folder/out perfmap_at=dir formats=$formats hooks=*" LD_PRELOAD=$library "$@"
}

for name in "${names[@]}"; do
  smaller "$programs/$name.nib" >"$folder/$name.nib"
  "$demo" --tier1 "$folder/$name.nib" >"$folder/expected"
  for tier in "${tiers[@]}"; do
    for agent in "${agents[@]}"; do
      for count in "${workers[@]}"; do
        # shellcheck disable=SC2086 # options are words
        if ! with "$agent" timeout 300 "$demo" --sites=always --workers "$count" $tier "$folder/$name.nib" >"$folder/printed" 2>"$folder/errors" ||
          ! cmp -s "$folder/printed" "$folder/expected"; then
          echo "$name $tier, $count workers, agent: $agent"
          head -5 "$folder/printed" "$folder/errors"
          failed=1
        fi
        runs=$((runs + 1))
        rm -rf "$folder/out"
      done
    done
  done
done
echo "$runs runs"
exit $failed
