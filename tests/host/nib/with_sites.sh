#!/usr/bin/env bash
# A program's results are the same while its calls are traced.
#   with_sites.sh LIBRARY HOOKS EXPECTED|- COMMAND...
set -euo pipefail
library=$1 hooks=$2 expected=$3
shift 3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

JITQUILL_OPTIONS="dir=$folder/out formats=jitdump,counts hooks='$hooks'" LD_PRELOAD=$library "$@" >"$folder/printed"
[ "$expected" = - ] || cmp "$folder/printed" "$expected"
counted() { awk -v name="$1" '$1 == name {print $2}' "$folder"/out/latest/stats; }
[ "$(counted sites_taken)" -gt 0 ] || { echo "no function had sites"; exit 1; }
[ "$(counted sites_refused)" -eq 0 ] || { echo "sites were refused"; cat "$folder"/out/latest/log; exit 1; }
[ "$(counted unwinding_refused)" -eq 0 ] || { echo "unwinding was refused"; exit 1; }
