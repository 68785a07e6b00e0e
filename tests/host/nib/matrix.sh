#!/usr/bin/env bash
# Programs print the same in both tiers, with everything hot, while code comes and goes, with the collector at each
# allocation; without an agent, with each format and all of them, sites on.
#   matrix.sh LIBRARY DEMO-JIT PROGRAMS        JITQUILL_LONG=1: all programs and formats; else a few
set -euo pipefail
library=$1 demo=$2 programs=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0 runs=0

long=${JITQUILL_LONG:-}
tiers=(--tier1 --tier2 --hot=2 "--hot=3 --code-limit=16k")
agents=(alone all)
names=(spectral_norm nucleotides producers)
if [ -n "$long" ]; then
  tiers+=("" --code-limit=4k "--gc-stress --hot=1" "--gc-stress --tier2" "--gc-stress --code-limit=8k")
  agents+=(none jitdump perfmap gdb eventlog openj9 calls counts)
  names=()
  for each in "$programs"/*.nib; do names+=("$(basename "$each" .nib)"); done
fi

# with AGENT COMMAND...
with() {
  local agent=$1 formats=$1
  shift
  if [ "$agent" = alone ]; then "$@"; return; fi
  [ "$agent" = all ] && formats=jitdump,perfmap,gdb,eventlog,openj9,calls,counts
  JITQUILL_OPTIONS="dir=$folder/out perfmap_at=dir formats=$formats hooks=*" LD_PRELOAD=$library "$@"
}

for name in "${names[@]}"; do
  [ "$name" = fib ] && continue # hundreds of millions of calls
  for tier in "${tiers[@]}"; do
    [ "$name" = sieve ] && [[ $tier = *stress* ]] && continue
    for agent in "${agents[@]}"; do
      # shellcheck disable=SC2086 # options are words
      if ! with "$agent" timeout 300 "$demo" --sites=always $tier "$programs/$name.nib" >"$folder/printed" 2>"$folder/errors" ||
        ! cmp -s "$folder/printed" "$programs/$name.out"; then
        echo "$name $tier, agent: $agent"
        head -5 "$folder/printed" "$folder/errors"
        failed=1
      fi
      runs=$((runs + 1))
      rm -rf "$folder/out"
    done
  done
done
echo "$runs runs"
exit $failed
