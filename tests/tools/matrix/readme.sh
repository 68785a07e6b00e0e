#!/usr/bin/env bash
# The README's table of the matrix: what runs is said by rows.sh, the figures by the last run of row.sh for each row.
#   readme.sh --run BUILD README    runs all rows of a built tree, as build/release, and writes the table
#   readme.sh --write RESULTS README   writes it from the folder that they left their figures in
#   readme.sh --check README        fails where the table is not as rows.sh has it, or a figure is less than the tests ask for
set -euo pipefail
matrix=$(cd "$(dirname "$0")" && pwd)
source "$matrix/table.sh"
begin='<!-- made by tests/tools/matrix/readme.sh -->' end='<!-- end of what it made -->'

declare -A figures  # "ROW FIGURE" = "SO ALL"
declare -A version  # of rows that say one
# figure NAME: "1,503 of 1,503"
figure() { sed -E ':a; s/([0-9])([0-9]{3})($|[ ,])/\1,\2\3/; ta; s/ / of /' <<<"${figures[${row[name]} $1]}"; }

print_row() {
  local set=${row[environment]:-}${row[options]:+JITQUILL_OPTIONS=${row[options]}}
  [ "${row[preload_by]}" = LD_PRELOAD ] || set+=${row[preload_by]}=...
  local bytes lines=${row[no_lines]:-} stacks=${row[no_stacks]:-}
  bytes="$(figure hot); $(figure bytes)${row[bytes_but]:+: ${row[bytes_but]}}"
  [ -n "$lines" ] || lines=$(figure lines)
  [ -n "$stacks" ] || stacks="$(figure stacks)${row[stacks_say]:+: ${row[stacks_say]}}"
  echo "| ${row[runtime]}${version[${row[name]}]:+ ${version[${row[name]}]}} | \`${row[intake]}\` | \`${set:+$set }${row[command]#bash without_map.sh }\` | $(figure names) | $bytes | $lines | $stacks |"
}

print_table() {
  echo '| runtime | intake | program | right names | hot functions, and bytes, as in memory at the end | right lines | whole stacks, by DWARF |'
  echo '|---|---|---|---|---|---|---|'
  for_each_row print_row
}

read_results() {
  local what so all
  [ -f "$results/${row[name]}" ] || { echo "no figures of ${row[name]} in $results"; exit 1; }
  while read -r what so all; do
    if [ "$what" = version ]; then version[${row[name]}]=$so; else figures[${row[name]} $what]="$so $all"; fi
  done <"$results/${row[name]}"
}

write_table() {
  local table
  for_each_row read_results
  table=$(print_table)
  awk -v begin="$begin" -v end="$end" -v table="$table" '
    $0 == end {inside = 0}
    !inside {print}
    $0 == begin {inside = 1; print table}' "$readme" >"$readme.new"
  mv "$readme.new" "$readme"
}

# The rows of the README are in the order of rows.sh; each line's figures, in the order of print_row.
read_back() {
  local line whats=(names hot bytes) what so of all
  read -r line <&3 || line=
  if [ -n "${row[version]:-}" ]; then version[${row[name]}]=$(sed -nE 's/^\| [^|]* (v?[0-9][^ |]*) \|.*/\1/p' <<<"$line"); fi
  [ -n "${row[no_lines]:-}" ] || whats+=(lines)
  [ -n "${row[no_stacks]:-}" ] || whats+=(stacks)
  for what in "${whats[@]}"; do
    read -r so of all || true
    figures[${row[name]} $what]="${so:-0} ${all:-0}"
    check_figure "$what" "${so:-0}" "${all:-0}"
  done < <(grep -oE '[0-9,]+ of [0-9,]+' <<<"$line" | tr -d ,)
}

# As the tests do.
check_figure() {
  local least=$3
  if [ "$1" != hot ]; then least=$((99 * $3)); elif [ -n "${row[bytes_but]:-}" ]; then least=1; fi
  if [ "$1" != hot ] && { [ "$3" -lt 100 ] || [ $((100 * $2)) -lt $least ]; }; then complain "$1" "$2" "$3"; fi
  if [ "$1" = hot ] && { [ "$3" -lt 3 ] || [ "$2" -lt $least ]; }; then complain "$1" "$2" "$3"; fi
}
complain() {
  echo "README: ${row[name]}, $1: $2 of $3"
  is_right=no
}

check_table() {
  is_right=yes
  local shown
  shown=$(awk -v begin="$begin" -v end="$end" '$0 == end {exit} inside {print} $0 == begin {inside = 1}' "$readme")
  exec 3< <(tail -n +3 <<<"$shown")
  for_each_row read_back
  diff <(print_table) - <<<"$shown" || is_right=no
  [ $is_right = yes ] || { echo "the README's table is not what is tested: bash tests/tools/matrix/readme.sh --run build/release README.md"; exit 1; }
}

case ${1:-} in
  --run)
    results=$2/tests/tools/matrix/results readme=$3
    JITQUILL_LONG=1 ctest --test-dir "$2" --output-on-failure -R '^tools/matrix_'
    write_table
    ;;
  --write) results=$2 readme=$3; write_table ;;
  --check) readme=$2; check_table ;;
  *) sed -n '2,6s/^# \?//p' "$0"; exit 2 ;;
esac
