#!/usr/bin/env bash
# Builds Jitquill and runs its tests. Installs the Debian packages that this needs.
#   bash cmake/test.sh           what CI runs: everything, with small numbers, one real runtime of each kind
#   bash cmake/test.sh --quick   unit, golden and law tests
#   bash cmake/test.sh --long    large numbers, all runtimes, both compilers, sanitizers, fuzzers, benchmarks: two hours
set -uo pipefail
cd "$(dirname "$0")/.."

mode=normal
case ${1:-} in
  "") ;;
  --quick) mode=quick ;;
  --long) mode=long ;;
  *) echo "usage: bash cmake/test.sh [--quick | --long]" >&2; exit 2 ;;
esac

passed=0 failed=0 skipped=0
# Figures are for the long run: nobody waits for the programs that make them otherwise.
benches=$([ "$mode" = long ] && echo ON || echo OFF)

# build PRESET [TARGET]: configures and builds; prints the end of the log if that fails.
build() {
  local log
  log=$(mktemp)
  echo "== build: $1"
  if ! { cmake --preset "$1" -DJITQUILL_BUILD_BENCH="$benches" && cmake --build "build/$1" -j "$(nproc)" ${2:+--target "$2"}; } >"$log" 2>&1; then
    tail -n 40 "$log"
    echo "build of preset $1 failed"
    failed=$((failed + 1))
    rm -f "$log"
    return 1
  fi
  rm -f "$log"
}

# run PRESET CTEST_ARGUMENTS...: runs, prints what did not pass, and adds to the counts.
run() {
  local preset=$1 log
  shift
  log=$(mktemp)
  echo "== test: $preset $*"
  ctest --test-dir "build/$preset" -j "$(nproc)" --output-on-failure "$@" >"$log" 2>&1
  grep -vE '^ *(Start +[0-9]+:|[0-9]+/[0-9]+ .* Passed )' "$log" | grep -vE '^(Internal ctest|Test project)'
  passed=$((passed + $(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log")))
  skipped=$((skipped + $(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Skipped' "$log")))
  failed=$((failed + $(grep -E '^ *[0-9]+/[0-9]+ Test ' "$log" | grep -vcE ' Passed |\*\*\*Skipped')))
  rm -f "$log"
}

lists=(cmake/packages-build.txt cmake/packages-demo.txt cmake/packages-test.txt)
[ $mode != long ] || lists+=(cmake/packages-long.txt)
bash cmake/install_packages.sh "${lists[@]}" || exit 1
# A reader of eventlogs, without the compiler in whose package's dependencies it comes: 776 MB.
[ $mode = quick ] || bash cmake/unpack_package.sh libghc-ghc-events-dev build/tools/ghc-events || exit 1
export DEBUGINFOD_URLS=  # no symbolizer of ours may ask the network

case $mode in
  quick)
    build release && run release -L 'unit|golden|law'
    ;;
  normal)
    # The matrix builds some two thousand programs of its own.
    build release && run release -LE long -E '/NativeMatrix\.'
    build clang unit-tests && run clang -L 'unit|golden'
    # By the clock: all side by side.
    build fuzz fuzzers && run fuzz -L fuzz -j 8
    ;;
  long)
    export JITQUILL_LONG=1
    build release && run release
    build clang && run clang
    build debug && run debug -L 'unit|golden|law|host'
    build asan && run asan -L 'unit|golden' && run asan -R '^(host/nib_matrix|law/hook)$'
    # What threads share without the leaf lock. (With this sanitizer vfork() is fork(), and hooks are slow.)
    build tsan unit-lanes && run tsan -R '^unit/(DeadPools|Lane|LaneFolder|Policy)\.'
    # Of nib the runtime: jitted code is not instrumented.
    build tsan demo-jit && build tsan nib_execution_test && run tsan -R '^host/nib_matrix|^unit/(Sparks|Threads|CodeCache|Tiers|Collector|Faults)\.'
    build fuzz fuzzers && run fuzz -L fuzz
    build fuzz-coverage fuzzers && run fuzz-coverage -L fuzz
    if [ -d build/release/tests/bench ]; then
      for bench in build/release/tests/bench/bench-*; do [ -x "$bench" ] && [ -f "$bench" ] && "$bench"; done
    fi
    ;;
esac

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
