#!/usr/bin/env bash
# A library shows exactly these names: shows.sh LIBRARY NAME..., in the order of sort.
set -euo pipefail
library=$1
shift

shown=$(nm -D --defined-only "$library" | awk '{print $3}' | LC_ALL=C sort | xargs)
[ "$shown" = "$*" ] || { echo "shows: $shown"; exit 1; }
