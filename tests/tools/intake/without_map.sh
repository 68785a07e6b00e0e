#!/usr/bin/env bash
# Runs a program, and takes away the perf map that it leaves in /tmp.
"$@" &
wait $!
status=$?
rm -f "/tmp/perf-$!.map"
exit $status
