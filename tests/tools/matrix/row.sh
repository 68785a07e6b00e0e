#!/usr/bin/env bash
# One row of the matrix: row.sh PRELOAD ITT_COLLECTOR DUMP_MEMORY NAME RESULTS. Its figures go to the folder RESULTS, for
# readme.sh.
matrix=$(cd "$(dirname "$0")" && pwd)
collector=$2 dump_memory=$3 name=$4 results=$5
source "$matrix/table.sh"
take_row "$name" || { echo "no row $name"; exit 1; }
# perf makes a file for each of Erlang's 15,000 functions: on a disk that takes minutes.
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 500000 ] 2>/dev/null; then export TMPDIR=/dev/shm; fi
source "$matrix/../intake/intake.sh"
source "$matrix/measures.sh"

for tool in ${row[needs]}; do needs "$tool"; done
cp "$matrix/programs/"* "$matrix/without_map.sh" .
eval "command=(${row[command]}) hot=(${row[hot]})"
options=${row[options]:-} bytes_but=${row[bytes_but]:-}
[ -z "${row[environment]:-}" ] || export "${row[environment]}"
if [ "${row[preload_by]}" != LD_PRELOAD ]; then variable=${row[preload_by]} library=$collector; fi
eval "${row[build]:-}"

runs_alike "${command[@]}"
record "${command[@]}"
names_all "${row[names]}"
if [ -n "${row[lines]:-}" ]; then lines_lie "${row[lines_in]:-${row[stacks]%% *}}" "${row[lines]}"; fi
if [ -n "${row[stacks]:-}" ]; then chains ${row[stacks]}; fi
# Of the memory that the runtime has for code, some is known, and no more than there is.
all_code=$(counted code_memory_bytes) known_code=$(counted code_memory_known_bytes)
[ "$known_code" -gt 0 ] && [ "$known_code" -le "$all_code" ] || fail "$known_code of $all_code bytes of code known"
IFS=',' read -r -a counts <<<"${row[counts]}"
for count in "${counts[@]}"; do
  read -r what operator number <<<"$count"
  [ "$(counted "$what")" "$operator" "$number" ] || fail "$what is $(counted "$what")"
done

mkdir -p "$results"
{
  [ -z "${row[version]:-}" ] || echo "version $(${row[version]})"
  for figure in "${!figures[@]}"; do echo "$figure ${figures[$figure]}"; done
} >"$folder/row"
mv "$folder/row" "$results/$name"
