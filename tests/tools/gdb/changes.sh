#!/usr/bin/env bash
# What gdb knows while functions go, move and are replaced. changes.sh LIBRARY CODE-HOST
library=$1 host=$2
source "$(dirname "$0")/gdb.sh"

# 300 functions: objects are merged twice before the first stop.
printf '%s\n' "set environment LD_PRELOAD $library" \
  'break host_step' 'break jit_0' 'run 300' \
  'echo [first]\n' 'bt 1' 'continue' \
  'echo [all]\n' 'info symbol $rdi' 'info line *$rdi' 'info symbol $rdi+64*200' 'info line *($rdi+64*200)' 'continue' \
  'echo [gone]\n' 'info symbol $rdi' 'info line *$rdi' 'info address jit_1' 'info symbol $rdi-64' 'continue' \
  'echo [moved]\n' 'info symbol $rdi' 'info symbol $rdi+64*298' 'info line *($rdi+64*298)' \
  'delete' 'break host_reached' 'continue' 'echo [runs there]\n' 'bt' 'continue' 'echo [newer]\n' 'bt' \
  'delete' 'break host_step' 'continue' \
  'echo [few]\n' 'info symbol $rdi' 'info symbol $rdi-64*3' 'info symbol $rdi+64*297' 'info symbol $rdi+64*100' \
  'continue' | gdb_prints "$host"

# says MARK PATTERN...: the lines behind the mark match, one after the other.
says() {
  local mark=$1 line
  shift
  sed -n "/^\[$mark\]/,\$p" "$folder/printed" | sed 1d >"$folder/after"
  for pattern in "$@"; do
    IFS= read -r line <&3 || fail "$mark: no more lines"
    [[ $line =~ $pattern ]] || fail "$mark: '$line', expected '$pattern'"
  done 3<"$folder/after"
}

says first '^#0 .*jit_0 \(\) at /nowhere/host.src:10$'
says all '^jit_1 in section .text of <in-memory' '^Line 20 of "/nowhere/host.src" starts at address .*<jit_1> and ends' \
  '^jit_201 in section' '^Line 2020 of "/nowhere/host.src" starts at address .*<jit_201>'
says gone '^No symbol matches' '^No line number information' '^No symbol "jit_1" in' '^jit_0 in section'
says moved '^No symbol matches' '^jit_2 in section' '^Line 30 of "/nowhere/host.src" starts at address .*<jit_2>'
says 'runs there' '^#0 +host_reached' '^#1 .* in jit_2 \(\) at /nowhere/host.src:31$' '^#2 .* in .*(call|take_steps|main) \('
says newer '^#0 +host_reached' '^#1 .* in jit_newer \(\) at /nowhere/host.src:11$' '^#2 .* in .*(call|take_steps|main) \('
says few '^No symbol matches' '^jit_newer in section' '^jit_2 in section' '^No symbol matches'
expect 'exited normally'
# The breakpoint was there before the function and stood through all merges: it was hit at the only call, once.
[ "$(grep -c '^Breakpoint 2, .*jit_0' "$folder/printed")" -eq 1 ] || fail "breakpoint at jit_0: not one hit"
