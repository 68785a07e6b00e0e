#!/usr/bin/env bash
# With a place for LLVM's own dump, which lli's MCJIT writes unasked, its code is left to that, or is in ours too, as the user
# wishes: own_dump.sh PRELOAD LLI CLANG
source "$(dirname "$0")/intake.sh"
source "$here/../matrix/measures.sh"
lli=$2 clang=$3
needs "$lli"
needs "$clang"
"$clang" -g -O1 -S -emit-llvm "$here/../matrix/programs/nested.c" -o nested.ll
export JITDUMPDIR=$folder
options=verbose=1
without=0 with=0
"$lli" -jit-kind=mcjit nested.ll >plain.out || without=$?
with_preload "$lli" -jit-kind=mcjit nested.ll >with.out 2>with.err || with=$?
[ "$with" = "$without" ] || fail "exit code $with, without us $without"
cmp plain.out with.out || fail "another stdout"
[ "$(find .debug -name 'jit-*.dump' | wc -l)" = 2 ] || fail "lli wrote no dump of its own: $(find .)"
[ -z "$(find out -name 'jit-*.dump' 2>/dev/null)" ] || fail "its code is in a dump of ours too"
[ "$(grep -c 'writes a jitdump by itself' with.err)" = 1 ] || fail "not said once: $(cat with.err)"

# perf takes the later of two stamps for a function: ours, with the unwinding tables that LLVM's dump has not.
options=own_dump=take
record "$lli" -jit-kind=mcjit nested.ll
[ "$(find . -name 'jit-*.dump' | wc -l)" = 4 ] || fail "not two dumps: $(find . -name 'jit-*.dump')"
names_all '^(inner|middle|outer|run|main)$'
chains '^inner$' '^middle$' '^outer$' '^run$' '^main$'
others=$(tops | grep '^inner ' | grep -vcF "$folder/out/" || true)
[ "$others" = 0 ] || fail "$others samples are in LLVM's dump"
[ "$(counted other_dumps)" = 1 ] || fail "LLVM's dump was not seen once"
