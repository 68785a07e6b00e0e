#!/usr/bin/env bash
# A stack from a function of the runtime, through jitted code, down to main. nib.sh LIBRARY DEMO-JIT
library=$1 demo=$2
source "$(dirname "$0")/gdb.sh"

cat >"$folder/t.nib" <<'NIB'
fn leaf(n: int) -> int {
  print(n);
  return n + 1;
}
fn down(n: int) -> int {
  if n < 1 {
    let result = leaf(n); return result;
  }
  return down(n - 1) + 1;
}
fn main() {
  print(down(2));
}
NIB

commands() {
  [ -z "$1" ] || echo "set environment LD_PRELOAD $1"
  printf '%s\n' "break nib_print_int" "run $folder/t.nib" bt "up" "list 2,2" "info symbol \$pc"
}
commands "$library" | gdb_prints "$demo"
expect_stack 'nib::nib_print_int .*' "leaf \(\) at $folder/t.nib:2" "down \(\) at $folder/t.nib:7" \
  "down \(\) at $folder/t.nib:9" "down \(\) at $folder/t.nib:9" "main \(\) at $folder/t.nib:12" \
  '.*call_main .*' '.*MainThread::run .*' '.*nib::run.*' '.*run_program.*' 'main \(argc.*'
expect '^2.*print\(n\);$'
expect '^leaf \+ [0-9]+ in section \.text of <in-memory'

# Without the agent gdb knows none of it: the test can fail.
commands "" | gdb_prints "$demo"
refuse 't.nib:'
expect '\?\? \(\)'
