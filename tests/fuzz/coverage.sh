#!/usr/bin/env bash
# Which lines of the readers the inputs reach that the fuzzers have collected; exit code 1: fewer than 85 % of one reader's.
#   coverage.sh FUZZ_BUILD COVERAGE_BUILD      presets fuzz, fuzz-coverage: both built, the fuzzers of the first have run
set -euo pipefail
cd "$(dirname "$0")/../.."
corpora=$1/tests/fuzz/corpus fuzzers=$2/tests/fuzz
least=85
profiles=$(mktemp -d)
trap 'rm -rf "$profiles"' EXIT
failed=0

# report READER: llvm-cov's rows of the files in its folder that the fuzzer is made of.
report() {
  llvm-cov-14 report -instr-profile="$profiles/$1.profdata" "$fuzzers/fuzz-$1" | grep "^agent/intake/$1/"
}

for reader in symfile perfmap itt opagent gdb; do
  LLVM_PROFILE_FILE=$profiles/$reader.profraw "$fuzzers/fuzz-$reader" -runs=0 "$corpora/$reader" >"$profiles/log" 2>&1 || {
    tail -n 20 "$profiles/log"; echo "$reader: the inputs could not be read again"; exit 1; }
  llvm-profdata-14 merge -o "$profiles/$reader.profdata" "$profiles/$reader.profraw"
  report "$reader" >"$profiles/report" || true
  # | file | regions 3 | functions 3 | lines, missed, cover | branches 3 |
  read -r total missed < <(awk '{ total += $8; missed += $9 } END { print total, missed }' "$profiles/report")
  [ "${total:-0}" -gt 0 ] || { echo "$reader: no lines, they are looked for in the wrong place"; exit 1; }
  lines=$((total - missed))
  echo "agent/intake/$reader: $lines of $total lines, $((100 * lines / total)) %"
  [ $((100 * lines)) -ge $((least * total)) ] && continue
  cat "$profiles/report"
  echo "$reader: fewer than $least %"
  failed=1
done
exit $failed
