#!/usr/bin/env bash
# LLVM's JITs, which nobody changed: lli.sh PRELOAD LLI CLANG KIND
source "$(dirname "$0")/intake.sh"
lli=$2 clang=$3 kind=$4
needs "$lli"
needs "$clang"
cp "$here/nested.c" .
"$clang" -g -O1 -S -emit-llvm nested.c -o nested.ll

runs_alike "$lli" "-jit-kind=$kind" nested.ll
record "$lli" "-jit-kind=$kind" nested.ll
names_all '^(inner|middle|outer|main)$'
chains inner middle outer main
lines_lie inner "$(grep -n 'first line' nested.c | cut -d: -f1)" "$(grep -n 'last line' nested.c | cut -d: -f1)" nested.c
[ "$(counted jit_interfaces_watched)" = 1 ] || fail "its interface is not watched"
[ "$(counted code_unreadable)" = 0 ] || fail "code that cannot be read"
# MCJIT relocates what it has registered already.
if [ "$kind" = mcjit ]; then [ "$(counted symfiles_waited)" -gt 0 ] || fail "nothing waited"; fi
