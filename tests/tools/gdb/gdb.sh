# What the tests of this folder share; sourced. Leaves nothing: all files are in $folder, processes are ended.
set -euo pipefail
folder=$(mktemp -d)
waiting=
finish() {
  if [ -n "$waiting" ]; then kill -KILL "$waiting" 2>/dev/null || true; wait "$waiting" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
# lli writes a dump of its own, and leaves it.
export JITDUMPDIR=$folder
export DEBUGINFOD_URLS= JITQUILL_OPTIONS="formats=gdb dir=$folder/out"
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 1; }

skip() {
  echo "$1"
  exit 77
}

# gdb_prints ARGUMENTS...: runs gdb with the commands of the standard input, each whether or not the one before failed;
# what it prints is in $folder/printed.
gdb_prints() {
  local command commands=()
  while IFS= read -r command; do commands+=(-ex "$command"); done
  timeout 120 gdb -nx -q -batch -ex 'set confirm off' -ex 'set pagination off' -ex 'set width 0' \
    -ex 'set breakpoint pending on' -ex 'set startup-with-shell off' "${commands[@]}" "$@" \
    >"$folder/printed" 2>&1 </dev/null || true
  if grep -qiE 'ptrace: Operation not permitted|Could not trace the inferior|warning: process .* is already traced' \
       "$folder/printed"; then
    skip "processes may not be traced here: $(grep -iE 'ptrace|trace' "$folder/printed" | head -1)"
  fi
}

fail() {
  echo "FAILED: $1"
  cat "$folder/printed"
  exit 1
}
expect() { grep -qE -- "$1" "$folder/printed" || fail "expected: $1"; }
refuse() { if grep -qE -- "$1" "$folder/printed"; then fail "not expected: $1"; fi; }

# expect_stack PATTERN...: each frame's "NAME ... FILE:LINE" of the last stack printed, from #0 on, matches its pattern.
expect_stack() {
  awk '/^#0 /{n = 0} /^#[0-9]+ /{frame[n++] = $0} END {for (i = 0; i < n; i++) print frame[i]}' "$folder/printed" |
    sed -E 's/^#[0-9]+ +(0x[0-9a-f]+ in )?//' >"$folder/stack"
  local i=0 pattern line
  for pattern in "$@"; do
    i=$((i + 1))
    line=$(sed -n "${i}p" "$folder/stack")
    [[ $line =~ ^$pattern$ ]] || fail "frame $((i - 1)) is '$line', expected '$pattern'"
  done
}

# starts_waiting PROGRAM COUNT MODE: a code_host with the agent; returns when it, or its child, sleeps under jitted code,
# which is the only place where it does. Its number is in $pid.
starts_waiting() {
  : >"$folder/said"
  LD_PRELOAD=$library "$@" >"$folder/said" &
  waiting=$!
  for _ in $(seq 300); do
    pid=$(sed -n 's/^child //p' "$folder/said")
    [ -n "$pid" ] && grep -q '^State:.S' "/proc/$pid/status" && return 0
    sleep 0.1
  done
  fail "$* does not sleep"
}
