# What the tests of this folder share; sourced with the preload as $1. Leaves nothing: all files are in $folder.
set -euo pipefail
preload=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# LLVM's own dump would make us leave its code alone: it has no place here. It says so, with us and without.
export DEBUGINFOD_URLS= HOME=$folder LC_ALL=C JITDUMPDIR=/dev/null

fail() {
  echo "FAILED: $1"
  exit 1
}
needs() { command -v "$1" >/dev/null || fail "$1 is not installed"; }

with_preload() { env LD_PRELOAD="$preload" JITQUILL_OPTIONS="dir=$folder/out $options" "$@"; }
options=

# runs_alike COMMAND...: stdout, stderr and exit code are what they are without us.
runs_alike() {
  local without=0 with=0
  "$@" >plain.out 2>plain.err || without=$?
  with_preload "$@" >with.out 2>with.err || with=$?
  [ "$with" = "$without" ] || fail "exit code $with, without us $without: $(head -c 500 with.err with.out)"
  [ "$with" = 3 ] || fail "exit code $with: the program itself went wrong"
  cmp plain.out with.out || fail "another stdout"
  cmp plain.err with.err || fail "another stderr"
}

# record COMMAND...: perf's samples, jitted code named, in `script`; with stacks unless stacks=no. Exit 77 where perf cannot
# record.
stacks=yes
record() {
  rm -rf out
  needs perf
  perf record -q -e cpu-clock -o probe.data true >/dev/null 2>probe.err || {
    echo "perf cannot record: $(head -1 probe.err)"
    exit 77
  }
  local call_graph=()
  if [ "$stacks" = yes ]; then call_graph=(--call-graph dwarf,8192); fi
  with_preload perf record -q -e cpu-clock -k mono -F 1500 "${call_graph[@]}" -o perf.data "$@" \
    >/dev/null 2>record.err || true
  perf --buildid-dir "$folder/buildid" inject --jit -i perf.data -o jitted.data >inject.out 2>&1 || fail "perf inject: $(cat inject.out)"
  perf script -i jitted.data -F ip,sym,dso >script 2>script.err
  [ -s script ] || fail "no samples: $(cat record.err script.err)"
}

# counted NAME: a number of the statistics.
counted() { awk -F'\t' -v name="$1" '$1 == name {sum += $2} END {print sum + 0}' out/*-[0-9]*/stats; }

# The innermost frame of each sample, as "symbol (object)". With stacks an empty line ends each.
tops() { awk -v stacks="$stacks" 'BEGIN {if (stacks == "yes") {RS = ""; FS = "\n"} else FS = "\n"} {sub(/^[ \t]*[0-9a-f]+ /, "", $1); print $1}' script; }
has_sample() { [ "$(tops | grep -cE -- "$1")" -gt 0 ] || fail "no sample in $1"; }

# names_all PATTERN: of the samples in executable memory without a file of its own, 99 % must have a name that matches.
names_all() {
  tops | awk -v pattern="$1" '
    !/\((\/.*jitted-[0-9]+-[0-9]+\.so|\/\/anon|\[unknown\]|\/?memfd:.*|\[heap\]|\/dev\/zero.*|\/tmp\/perf-[0-9]+\.map|anon_inode.*)\)$/ {next}
    {all++; name = $0; sub(/ \([^(]*\)$/, "", name); if (name ~ pattern) named++; else wrong[$0]++}
    END {
      for (what in wrong) print wrong[what], "wrong:", what
      printf "%d of %d samples named\n", named, all
      exit !(all >= 100 && named >= 0.99 * all)
    }' || fail "names"
}

# chains INNERMOST OUTER...: 99 % of the samples in INNERMOST have the others behind it, in this order and without others.
chains() {
  awk -v wanted="$*" '
    BEGIN {RS = ""; FS = "\n"; count = split(wanted, names, " ")}
    {
      for (i = 1; i <= NF; ++i) {sub(/^[ \t]*[0-9a-f]+ /, "", $i); sub(/ \([^(]*\)$/, "", $i)}
      if ($1 != names[1]) next
      ++all
      for (i = 1; i <= count && $i == names[i]; ++i) ;
      if (i > count) ++whole
    }
    END {printf "%d of %d stacks are whole\n", whole, all; exit !(all >= 100 && whole >= 0.99 * all)}' script ||
    fail "stacks"
}

# lines_lie NAME FIRST LAST FILE: 99 % of the samples in NAME come from these lines of the file.
lines_lie() {
  perf script -i jitted.data -G -F ip,sym,srcline 2>/dev/null | awk -v name="$1" -v first="$2" -v last="$3" -v file="$4" '
    inside && match($0, /[^ \t\/]+:[0-9]+$/) {
      split(substr($0, RSTART), place, ":")
      ++all
      if (place[1] == file && place[2] >= first && place[2] <= last) ++right; else ++wrong[$0]
    }
    {inside = $2 == name}
    END {
      for (what in wrong) print wrong[what], "wrong:", what
      printf "%d of %d lines are right\n", right, all
      exit !(all >= 100 && right >= 0.99 * all)
    }' || fail "lines"
}
