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

agent=$build/agent/libjitquill-preload.so
nib=$build/demo-jit/demo-jit
out=$build/demo-output
rm -rf "$out"
mkdir -p "$out"
cd "$out"
export DEBUGINFOD_URLS=
export JITQUILL_OPTIONS="dir='$out'"

# Why perf cannot record here and what helps, in one paragraph; empty if it can.
perf_trouble() {
  command -v perf >/dev/null || { echo "perf is not installed: apt-get install linux-perf"; return; }
  perf record -q -e cpu-clock -k mono -o "$out/trial.data" -- true >"$log" 2>&1 && { rm -f "$out/trial.data"; return; }
  cat "$log"
  local level
  level=$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo unknown)
  echo "perf may not record: kernel.perf_event_paranoid is $level here, and you are user $(id -un)."
  echo "Cure: run as root, or: sudo sysctl kernel.perf_event_paranoid=1   (in a container: --cap-add PERFMON)"
}

trouble=$(perf_trouble)
if [ -n "$trouble" ]; then
  echo "$trouble"
  echo "== the program, without perf"
  LD_PRELOAD=$agent "$nib" "$program"
  echo "== names in the dump"
  dump=$(echo "$out"/demo-jit-*/jit-*.dump)
  strings -n 3 "$dump" | grep -vE '^(DTiJ|/)' | sort -u | head -n 40
  echo "== files"
  ls -l "$out"/demo-jit-*
  exit 0
fi

echo "== record: perf record -e cpu-clock -k mono --call-graph dwarf,8192 -- env LD_PRELOAD=$agent demo-jit $(basename "$program")"
perf record -q -e cpu-clock -k mono --call-graph dwarf,8192 -o perf.data -- env LD_PRELOAD="$agent" "$nib" "$program"

echo "== inject: perf inject --jit -i perf.data -o perf.jit.data"
perf --buildid-dir "$out/buildid" inject --jit -i perf.data -o perf.jit.data

# perf_shows LINES PERF_ARGUMENTS...: the first lines of what perf prints. By a file: perf must not die of a closed pipe.
perf_shows() {
  local lines=$1
  shift
  perf --buildid-dir "$out/buildid" "$@" >"$log" 2>/dev/null
  sed -e '/^#* *$/d' -e 's/ *$//' "$log" | sed -n "1,${lines}p"
}

echo "== report: perf report -i perf.jit.data --stdio --no-inline"
perf_shows 12 report -i perf.jit.data --stdio --no-inline --no-children -g none --percent-limit 0.1
echo "   ... with call graph:"
perf_shows 40 report -i perf.jit.data --stdio --no-inline --percent-limit 5

hot=$(perf_shows 20 report -i perf.jit.data --stdio --no-inline --no-children -g none -F overhead,dso,sym |
      awk '$2 ~ /^jitted-/ && !found {found = $NF} END {print found}')
echo "== annotate: perf annotate -i perf.jit.data --stdio $hot"
perf_shows 60 annotate -i perf.jit.data --stdio "$hot"

echo "== files"
echo "perf's recording:          $out/perf.jit.data"
echo "jitdump, log, statistics:  $(echo "$out"/demo-jit-*)"
echo "agent to preload:          $agent"
