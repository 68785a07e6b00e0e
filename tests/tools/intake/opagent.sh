#!/usr/bin/env bash
# A C program written for OProfile's agent library, with ours in its place: opagent.sh LIBRARY HOST
source "$(dirname "$0")/intake.sh"
source "$here/../matrix/measures.sh"
variable=LD_LIBRARY_PATH library=$(dirname "$1")

same_both_ways "$2" work
record "$2" work
names_all '^op_(hot|warm)$'
tops | grep -c '^op_hot' >/dev/null || fail "no sample in op_hot"
tops | grep -c '^op_warm' >/dev/null || fail "no sample in op_warm"
[ "$(counted opagent_calls_broken)" = 0 ] || fail "broken calls"
