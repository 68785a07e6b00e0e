#!/usr/bin/env bash
# libjitquill.so shows exactly the functions of jitquill.h, their table, and the table for the libraries that come with it.
set -euo pipefail
library=$1 header=$2

shown=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
declared=$({ sed -n 's/^JITQUILL_FUNCTION .*[ *]\(jitquill_[a-z_]*\)(.*/\1/p' "$header"
             echo jitquill_functions_v1
             echo jitquill_private_v1; } | sort)
[ "$(wc -l <<<"$declared")" -ge 8 ] || { echo "found only these declarations, the pattern is wrong: $declared"; exit 1; }
diff <(echo "$declared") <(echo "$shown") || { echo "declared (<) and exported (>) differ"; exit 1; }
