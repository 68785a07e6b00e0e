#!/usr/bin/env bash
# node writes a perf map of its own; we add the bytes, and perf knows its code from the dump: node_perfmap.sh PRELOAD
source "$(dirname "$0")/intake.sh"
needs node
cp "$here/hot.js" .
options=intakes=perfmap
stacks=no

node=(bash "$here/without_map.sh" node --perf-basic-prof hot.js)
runs_alike "${node[@]}"
record "${node[@]}"
names_all '^(JS:|RegExp:|Builtin:|Stub:|BytecodeHandler:)'
has_sample '^JS:[*]fib '
has_sample '^JS:[*^]longest '
[ "$(counted perfmap_lines_broken)" = 0 ] || fail "broken lines"
