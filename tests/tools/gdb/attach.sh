#!/usr/bin/env bash
# gdb comes late: to a process that runs jitted code, and to a child of fork, which kept what it inherited.
# attach.sh LIBRARY CODE-HOST MODE
library=$1 host=$2 mode=$3
source "$(dirname "$0")/gdb.sh"

starts_waiting "$host" 300 "$mode"
printf '%s\n' bt 'info address jit_1' 'info address jit_299' detach | gdb_prints -p "$pid"
expect '(in |^#[0-9]+ +)host_reached '
if [ "$mode" = fork ]; then
  expect 'jit_child \(\) at /nowhere/host.src:11$'
  expect 'jit_2 \(\) at /nowhere/host.src:31$'
  expect '^No symbol "jit_1" in'
else
  expect 'jit_2 \(\) at /nowhere/host.src:31$'
  expect 'jit_1 \(\) at /nowhere/host.src:21$'
  expect 'jit_0 \(\) at /nowhere/host.src:11$'
  expect '^Symbol "jit_1" is'
fi
expect '(in |^#[0-9]+ +)main \('
expect '^Symbol "jit_299" is a function at address'
