#!/usr/bin/env bash
# Fuzzes one reader: from its seeds and from what earlier runs found.
#   run.sh FUZZER CORPUS SEEDS OBJECT...
# 20 seconds of the clock, or with JITQUILL_LONG=1 30 minutes of CPU time; JITQUILL_FUZZ_SECONDS sets another number.
set -euo pipefail
fuzzer=$1 corpus=$2 seeds=$3
shift 3
reader=${fuzzer##*/fuzz-}
findings=$(dirname "$(dirname "$corpus")")/findings/$reader
seconds=${JITQUILL_FUZZ_SECONDS:-$([ "${JITQUILL_LONG:-}" = 1 ] && echo 1800 || echo 20)}

mkdir -p "$corpus" "$findings"
"$seeds" "$reader" "$corpus" "$@" || { echo "no seeds for $reader"; exit 1; }
log=$(mktemp) used_file=$(mktemp)
trap 'rm -f "$log" "$used_file"' EXIT

# CPU time of the children so far. Not in a subshell, which has none.
count_used() {
  times >"$used_file"
  used=$(awk 'NR == 2 { split($0, t, /[ms ]+/); print int(t[1] * 60 + t[2] + t[3] * 60 + t[4]) }' "$used_file")
}

# A limit of libFuzzer's is one of the clock: where other work takes the CPU away, another round follows.
used=0
while [ "$used" -lt "$seconds" ]; do
  # 30 s, 3 GB: an input that takes as much of a host's is a finding. Memory that a reader asks for is not one, it may be refused.
  if ! ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=0 \
    "$fuzzer" -max_total_time=$((seconds - used)) -timeout=30 -rss_limit_mb=3000 -malloc_limit_mb=0 -print_final_stats=1 \
    -artifact_prefix="$findings/" "$corpus" >"$log" 2>&1; then
    tail -n 60 "$log"
    input=$(grep -oP 'Test unit written to \K.*' "$log" | tail -n 1 || true)
    echo "$reader: a finding: ${input:-see above}"
    [ -z "$input" ] || echo "again: ASAN_OPTIONS=allocator_may_return_null=1 $fuzzer $input"
    exit 1
  fi
  count_used
  [ "${JITQUILL_LONG:-}" = 1 ] || break
done
grep -E '^stat::number_of_executed_units|DONE' "$log"
echo "$reader: $used s of CPU time, $(find "$corpus" -type f | wc -l) inputs in $corpus"
