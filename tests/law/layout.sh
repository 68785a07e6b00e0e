#!/usr/bin/env bash
# Formatting is checked, not argued; no source file is longer than 400 lines.
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }

mapfile -t sources < <(find agent writer demo-jit tests -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c')
[ ${#sources[@]} -gt 20 ] || { echo "only ${#sources[@]} sources found"; exit 1; }
clang-format --dry-run --Werror "${sources[@]}"
long=$(wc -l "${sources[@]}" | awk '$2 != "total" && $1 > 400')
[ -z "$long" ] || { echo "over 400 lines: $long"; exit 1; }
