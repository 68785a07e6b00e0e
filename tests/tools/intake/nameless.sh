#!/usr/bin/env bash
# A JIT of which we hear only by the unwinding tables that it registers: nameless.sh PRELOAD LLI CLANG
source "$(dirname "$0")/intake.sh"
source "$here/../matrix/measures.sh"
lli=$2 clang=$3
needs "$lli"
needs "$clang"
"$clang" -g -O1 -S -emit-llvm "$here/../matrix/programs/nested.c" -o nested.ll
options=intakes=frames

same_both_ways "$lli" -jit-kind=orc nested.ll
record "$lli" -jit-kind=orc nested.ll
names_all '^jit_[0-9a-f]+$'
# inner, middle, outer, run and main have no other names than those.
code='^jit_[0-9a-f]+$'
chains "$code" "$code" "$code" "$code" "$code"
