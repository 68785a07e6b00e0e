# What the tests of this folder share; sourced with the preload as $1. Leaves nothing: all files are in $folder.
set -euo pipefail
preload=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
exec </dev/null
cd "$folder"
# LLVM's own dump would make us leave its code alone: it has no place here. It says so, with us and without.
export DEBUGINFOD_URLS= HOME=$folder LC_ALL=C JITDUMPDIR=/dev/null

fail() {
  echo "FAILED: $1"
  exit 1
}
needs() { command -v "$1" >/dev/null || fail "$1 is not installed"; }

# Who wants another library, by another variable, says so.
variable=LD_PRELOAD library=$preload options=
with_preload() { env "$variable=$library" JITQUILL_OPTIONS="dir=$folder/out $options" "$@"; }

# counted NAME: a number of the statistics.
counted() { awk -F'\t' -v name="$1" '$1 == name {sum += $2} END {print sum + 0}' out/*-[0-9]*/stats; }

# same_both_ways COMMAND...: stdout, stderr and exit code are what they are without us, and the program did its work.
same_both_ways() {
  local without=0 with=0
  "$@" >plain.out 2>plain.err || without=$?
  with_preload "$@" >with.out 2>with.err || with=$?
  [ "$with" = "$without" ] || fail "exit code $with, without us $without: $(head -c 500 with.err with.out)"
  [ "$with" = 3 ] || fail "exit code $with: the program itself went wrong"
  cmp plain.out with.out || fail "another stdout"
  cmp plain.err with.err || fail "another stderr"
}
