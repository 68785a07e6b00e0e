# Reads rows.sh: sourced by what needs rows.
rows_file=$(dirname "${BASH_SOURCE[0]}")/rows.sh

# for_each_row FUNCTION: calls it for each row, with the associative array `row` filled.
for_each_row() {
  local see=$1
  row() {
    declare -gA row=([name]=$1 [preload_by]=LD_PRELOAD)
    shift
    local pair
    for pair; do row[${pair%%=*}]=${pair#*=}; done
    "$see"
  }
  source "$rows_file"
  unset -f row
}

# take_row NAME: fills `row` with that one.
take_row() {
  local wanted=$1 found=no
  declare -A taken
  keep_wanted() {
    [ "${row[name]}" = "$wanted" ] || return 0
    found=yes
    local key
    for key in "${!row[@]}"; do taken[$key]=${row[$key]}; done
  }
  for_each_row keep_wanted
  [ $found = yes ] || return 1
  declare -gA row=()
  local key
  for key in "${!taken[@]}"; do row[$key]=${taken[$key]}; done
}
