#!/usr/bin/env bash
# Runs a program, and takes away the perf map that it leaves in /tmp.
"$@" <&0 &  # else it is /dev/null
wait $!
status=$?
rm -f "/tmp/perf-$!.map"
exit $status
