#!/usr/bin/env bash
# Erlang writes a perf map of its own; we add the bytes, and perf knows its code from the dump: erlang_perfmap.sh PRELOAD
# perf makes a file for each of its 16,000 functions: on a disk that takes minutes.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 500000 ] 2>/dev/null; then export TMPDIR=/dev/shm; fi
source "$(dirname "$0")/intake.sh"
needs erl
needs erlc
cp "$here/hot.erl" .
erlc hot.erl
options=intakes=perfmap
stacks=no

erl=(bash "$here/without_map.sh" erl +JPperf map -noshell -s hot main)
runs_alike "${erl[@]}"
record "${erl[@]}"
names_all '^\$'
has_sample '^\$hot:fib/1 '
[ "$(counted perfmap_lines_broken)" = 0 ] || fail "broken lines"
[ "$(counted functions_loaded)" -gt 10000 ] || fail "only $(counted functions_loaded) functions"
