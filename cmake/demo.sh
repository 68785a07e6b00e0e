#!/usr/bin/env bash
# Builds Jitquill, runs a nib program under perf with the agent preloaded, and shows what perf knows of its jitted
# functions: names, call graph, source lines. Installs the Debian packages that this needs.
#   bash cmake/demo.sh [PROGRAM.nib]      (default: demo-jit/programs/fib.nib)
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

program=$(realpath "${1:-demo-jit/programs/fib.nib}")
bash cmake/install_packages.sh cmake/packages-build.txt cmake/packages-demo.txt

build=$root/build/demo
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "== build ($build)"
if ! { cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DJITQUILL_BUILD_TESTS=OFF &&
       cmake --build "$build" -j "$(nproc)"; } >"$log" 2>&1; then
  tail -n 40 "$log"
  echo "The build failed; see above." >&2
  exit 1
fi

jitquill=$build/agent/jitquill
nib=$build/demo-jit/demo-jit
out=$build/demo-output
rm -rf "$out"
mkdir -p "$out"
cd "$out"
export DEBUGINFOD_URLS=

echo "== jitquill perf -- demo-jit $(basename "$program")"
status=0
"$jitquill" perf --dir "$out" --perf-args -e cpu-clock --call-graph dwarf,8192 -- "$nib" "$program" 2>"$log" |
  sed -e '/^#* *$/d' -e 's/ *$//' || status=$?
cat "$log"
if [ $status -eq 125 ]; then
  echo "== jitquill run -- demo-jit $(basename "$program"): without perf"
  "$jitquill" run --dir "$out" -- "$nib" "$program"
  dump=$(echo "$out"/demo-jit-*/jit-*.dump)
  echo "== jitquill show $dump"
  "$jitquill" show --limit 40 "$dump"
  exit 0
fi
[ $status -eq 0 ] || exit $status
recording=$(echo "$out"/jitquill-*)

# perf_shows LINES PERF_ARGUMENTS...: the first lines of what perf prints. By a file: perf must not die of a closed pipe.
perf_shows() {
  local lines=$1
  shift
  perf --buildid-dir "$recording/buildid" "$@" >"$log" 2>/dev/null
  sed -e '/^#* *$/d' -e 's/ *$//' "$log" | sed -n "1,${lines}p"
}

echo "== call graph: perf report -i perf.jit.data --stdio --no-inline"
perf_shows 40 report -i "$recording/perf.jit.data" --stdio --no-inline --percent-limit 5

hot=$(perf_shows 20 report -i "$recording/perf.jit.data" --stdio --no-inline --no-children -g none -F overhead,dso,sym |
      awk '$2 ~ /^jitted-/ && !found {found = $NF} END {print found}')
echo "== source lines: perf annotate -i perf.jit.data --stdio $hot"
perf_shows 60 annotate -i "$recording/perf.jit.data" --stdio "$hot"

echo "== files"
echo "perf's recording:          $recording/perf.jit.data"
echo "jitdump, log, statistics:  $(echo "$out"/demo-jit-*)"
echo "the command:               $jitquill"
