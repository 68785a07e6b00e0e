#!/usr/bin/env bash
# Beside a JIT that has a descriptor of its own, both are seen. lli.sh LIBRARY CLANG INCLUDE PROGRAM.c
library=$1 clang=$2 include=$3 program=$4
source "$(dirname "$0")/gdb.sh"
command -v lli >/dev/null || { echo "lli is not installed"; exit 1; }

"$clang" -g -O0 -I"$include" -emit-llvm -c "$program" -o "$folder/program.bc"
for kind in mcjit orc; do
  printf '%s\n' "set environment LD_PRELOAD $library" 'break puts' 'run' 'bt' 'info symbol announced_to_the_agent' 'kill' |
    gdb_prints --args lli "-jit-kind=$kind" "$folder/program.bc"
  expect "^#1 .* in inner \(n=1\) at $program:[0-9]+$"
  expect "^#2 .* in main \(\) at $program:[0-9]+$"
  expect '^announced_to_the_agent in section \.text of <in-memory'
done
