#!/usr/bin/env bash
# Formatting is checked, not argued; no source file is longer than 400 lines, without what is made of a table (events.sh).
set -euo pipefail
cd "$1"
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 77; }

mapfile -t sources < <(find agent writer demo-jit tests -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c')
[ ${#sources[@]} -gt 20 ] || { echo "only ${#sources[@]} sources found"; exit 1; }
clang-format --dry-run --Werror "${sources[@]}"
mapfile -t assembly < <(find agent -name '*.S' -o -name '*.inc')
long=$(awk '
  FNR == 1 { is_made = 0 }
  /^\/\* ---- Made from / { is_made = 1 }
  !is_made && ++lines[FILENAME] == 401 { print FILENAME }
  /^\/\* ---- End of what is made / { is_made = 0 }' "${sources[@]}" "${assembly[@]}")
[ -z "$long" ] || { echo "over 400 lines: $long"; exit 1; }
