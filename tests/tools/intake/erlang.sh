#!/usr/bin/env bash
# Erlang's JIT, whose symbol files are of a kind of their own: erlang.sh PRELOAD
# perf makes a file for each of its 15,000 functions: on a disk that takes minutes.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 500000 ] 2>/dev/null; then export TMPDIR=/dev/shm; fi
source "$(dirname "$0")/intake.sh"
needs erl
needs erlc
cp "$here/hot.erl" .
erlc hot.erl

stacks=no  # Erlang's are no stacks of the machine's

runs_alike erl -noshell -s hot main
record erl -noshell -s hot main
names_all "^'?[a-z][a-z0-9_@]*'?:"
has_sample '^hot:fib/1 '
[ "$(counted symfiles_refused)" = 0 ] || fail "refused symbol files"
[ "$(counted symfile_functions)" -gt 10000 ] || fail "only $(counted symfile_functions) functions"
