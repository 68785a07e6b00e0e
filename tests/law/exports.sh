#!/usr/bin/env bash
# libjitquill.so shows exactly the functions of the public headers, their table, and the table for the libraries that come with it.
set -euo pipefail
library=$1
shift

shown=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
declared=$({ sed -n 's/^JITQUILL_FUNCTION .*[ *]\(jitquill_[a-z_]*\)(.*/\1/p' "$@"
             echo jitquill_functions_v1
             echo jitquill_private_v1; } | sort)
[ "$(wc -l <<<"$declared")" -ge 8 ] || { echo "found only these declarations, the pattern is wrong: $declared"; exit 1; }
diff <(echo "$declared") <(echo "$shown") || { echo "declared (<) and exported (>) differ"; exit 1; }
