#!/usr/bin/env bash
# Formatting is checked, not argued; no source file is longer than 400 lines, without what is made of a table (events.sh);
# what goes on in a row of a header's paragraph (Context, Promises, ...) stands below its text.
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

torn=$(awk '
  FNR == 1 { is_head = 1; is_row = 0 }
  !/^\/\// { is_head = 0 }
  !is_head { next }
  /^\/\/$/ { is_row = 0 }
  /^\/\/ (Context|Promises|Does not|Source)  / { is_row = 1; next }
  is_row && !/^\/\/   / { print FILENAME ":" FNR }' "${sources[@]}")
[ -z "$torn" ] || { echo "wrapped to the margin: $torn"; exit 1; }
