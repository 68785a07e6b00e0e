#!/usr/bin/env bash
# A debugger that is there from the start has its breakpoint where our jump would be: it keeps it, and the dump has the code all
# the same. beside_gdb.sh PRELOAD LLI CLANG
source "$(dirname "$0")/intake.sh"
lli=$2 clang=$3
needs gdb
needs "$lli"
needs "$clang"
"$clang" -g -O0 -S -emit-llvm "$here/../matrix/programs/nested.c" -o nested.ll
timeout 120 gdb -nx -q -batch -ex 'set confirm off' -ex 'set width 0' -ex 'set startup-with-shell off' \
  -ex 'set breakpoint pending on' -ex "set environment LD_PRELOAD $preload" \
  -ex "set environment JITQUILL_OPTIONS dir=$folder/out" -ex 'break printf' -ex run -ex bt -ex delete -ex continue \
  --args "$lli" -jit-kind=mcjit nested.ll >printed 2>&1 </dev/null || true
if grep -qiE 'ptrace: Operation not permitted|Could not trace the inferior' printed; then
  echo "processes may not be traced here"
  exit 77
fi
grep -qE '^#1 .* in run \(.*\) at .*nested\.c:[0-9]+$' printed || fail "gdb shows no jitted function: $(cat printed)"
[ "$(counted functions_loaded)" = 5 ] || fail "$(counted functions_loaded) functions in the dump"
[ "$(counted frames_nameless)" = 0 ] || fail "$(counted frames_nameless) functions without a name"
