#!/usr/bin/env bash
# libjitquill-preload.so shows exactly the names of borrowed.def, each of which is libc's or libgcc's, and those of
# native_hooks.def.
set -euo pipefail
library=$1 table=$2 hooks=$3

shown=$(nm -D --defined-only "$library" | awk '{print $3}' | sort)
borrowed=$(sed -nE 's/^[A-Z_]+\(([A-Za-z0-9_]+).*/\1/p' "$table" | sort)
[ "$(wc -l <<<"$borrowed")" -ge 10 ] || { echo "found only these rows, the pattern is wrong: $borrowed"; exit 1; }
hooked=$(sed -nE 's/^NATIVE_HOOK\(([A-Za-z0-9_]+).*/\1/p' "$hooks")
diff <(printf '%s\n' "$borrowed" "$hooked" | sort) <(echo "$shown") || { echo "borrowed (<) and exported (>) differ"; exit 1; }

libc=$(ldd "$library" | awk '$1 == "libc.so.6" {print $3}')
libgcc=$(dirname "$libc")/libgcc_s.so.1
theirs=$(nm -D --defined-only "$libc" "$libgcc" | awk 'NF == 3 {sub(/@.*/, "", $3); print $3}' | sort -u)
foreign=$(comm -23 <(echo "$borrowed") <(echo "$theirs"))
[ -z "$foreign" ] || { echo "not in libc or libgcc: $foreign"; exit 1; }
