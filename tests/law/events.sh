#!/usr/bin/env bash
# What is made of the table of runtime events is made of the table as it is: events.sh [--write] EVENTS_TEXT SOURCE_DIR
set -euo pipefail
write=false
[ "$1" = --write ] && { write=true; shift; }
program=$1 source_dir=$2
failed=0
made=$(mktemp)
trap 'rm -f "$made" "$made.file"' EXIT

# part FORM FILE FIRST LAST: the lines between these two, which begin so.
part() {
  local file=$source_dir/$2
  [ "$(grep -cF -e "$3" -e "$4" "$file")" -eq 2 ] || { echo "$2: the lines around what is made are not there"; exit 1; }
  "$program" "$1" >"$made"
  awk -v first="$3" -v last="$4" -v made="$made" '
    index($0, last) == 1 { inside = 0 }
    !inside { print }
    index($0, first) == 1 { inside = 1; while ((getline line < made) > 0) print line }' "$file" >"$made.file"
  if $write; then
    cp "$made.file" "$file"
  elif ! diff "$file" "$made.file"; then
    echo "above: $2 (<) is not what the table makes (>): bash tests/law/events.sh --write BUILD/tests/law/events_text ."
    failed=1
  fi
}

part c agent/include/jitquill/events.h '/* ---- Made from' '/* ---- End of what'
part markdown docs/runtime-events.md '<!-- made of the table' '<!-- end of what'
exit $failed
