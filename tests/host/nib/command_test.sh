#!/bin/sh
# The demo-jit command: exit statuses, where text goes, and the stack limits of the main thread.
# Usage: command_test.sh DEMO-JIT LIBJITQUILL
set -u
demo=$1 agent=$2
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0

# expect NAME STATUS STDOUT STDERR-PATTERN COMMAND...
expect() {
  name=$1 status=$2 output=$3 pattern=$4
  shift 4
  "$@" >out 2>err
  got=$?
  if [ $got -ne "$status" ] || [ "$(cat out)" != "$output" ] || ! { tr '\n' '|' <err; echo; } | grep -Eqx "$pattern"; then
    echo "FAILED $name: status $got (expected $status)"
    echo "stdout:"; cat out
    echo "stderr:"; cat err
    failed=1
  fi
}

echo 'fn main() { print(7); }' >good.nib
printf 'fn main() {\n  print(x);\n  let a = 1 + true;\n}\n' >bad.nib
printf 'fn main() {\n  print(1);\n  let z = 0;\n  print(1 / z);\n}\n' >zero.nib
printf 'fn down(n: int) -> int { return down(n + 1) + n; }\nfn main() { print(down(0)); }\n' >deep.nib
printf 'fn f(n: int) {\n  if n == 0 {\n    fail("none left");\n  }\n  f(n - 1);\n}\nfn main() {\n  f(1);\n}\n' >fail.nib
cat >sum.nib <<'NIB'
fn grow(n: int, depth: int) -> int {
  if depth == 0 {
    return n * n
      * n;
  }
  let result = grow(n, depth - 1); return result;
}
fn twice(n: int) -> int {
  return grow(n, 0) +
    grow(n, 1);
}
fn main() {
  print(twice(1000));
  print(twice(3000000));
}
NIB
cat >bounds.nib <<'NIB'
fn sum(numbers: [int], count: int) -> int {
  if count == 0 {
    return 0;
  }
  return sum(numbers, count - 1) +
    numbers[count - 1];
}
fn checked(rows: [[int]], row: int) -> int {
  let result = sum(rows[row], 4); return result;
}
fn main() {
  let rows = array(2, array(4, 10));
  print(checked(rows, 1));
  rows[1] = array(3, 10);
  print(
    checked(rows, 1));
}
NIB
cat >memory.nib <<'NIB'
fn grow(size: int) -> [bool] {
  let more = array(size, true);
  if size > 0 {
    let result = grow(size + size); return result;
  }
  return more;
}
fn main() {
  print(len(grow(400000)));
}
NIB
echo 'fn main() { print(len(array(134217726 + 1, 0))); }' >long.nib
mkdir folder
untraced='  \(no stack trace: the agent, .+\)\|'

expect runs 0 7 '' "$demo" good.nib
expect time 0 7 'jitted call: [0-9]+ [0-9]+\|' "$demo" --time good.nib
expect compile_errors 1 '' \
  "bad.nib:2:9: error: no variable 'x'\\|bad.nib:3:15: error: expected int, found bool\\|" "$demo" bad.nib
expect division 1 1 'zero.nib:4:11: error: division by zero\|'"$untraced" "$demo" zero.nib
expect integer_overflow 1 2000000000 'sum.nib:4:7: error: integer overflow\|'"$untraced" "$demo" sum.nib
expect stack_overflow 1 '' "deep.nib:1:4: error: stack overflow in function 'down'\\|$untraced" "$demo" deep.nib
expect small_stack 1 '' "deep.nib:1:4: error: stack overflow in function 'down'\\|$untraced" \
  sh -c 'ulimit -s 1024; exec "$1" deep.nib' sh "$demo"
expect large_stack 1 '' "deep.nib:1:4: error: stack overflow in function 'down'\\|$untraced" \
  sh -c 'ulimit -s unlimited 2>/dev/null; exec "$1" deep.nib' sh "$demo"
expect bounds 1 40 'bounds.nib:6:12: error: index 3 is outside of an array of 3\|'"$untraced" "$demo" bounds.nib
printf 'record L { next: L }\nfn main() {\n  var l: L = null;\n  while true {\n    l = L(l);\n  }\n}\n' >list.nib
printf 'record P { x: int }\nfn f(p: P) -> int {\n  return p.x + 1;\n}\nfn main() {\n  print(f(P(1)));\n  print(f(null));\n}\n' >null.nib
printf 'fn f(z: int) -> int {\n  return 1 / z;\n}\nfn main() {\n  let t = spawn f(0);\n  print(join(t));\n}\n' >thread.nib
printf 'record L { next: L }\nfn main() {\n  let a = array(10, L(null));\n  print(len(a));\n}\n' >made.nib
expect full_heap 1 '' "list.nib:5:9: error: out of memory\\|$untraced" "$demo" --heap 1 list.nib
expect null 1 2 "null.nib:3:11: error: null has no field 'x'\\|$untraced" "$demo" null.nib
expect thread 1 '' "thread.nib:2:12: error: division by zero\\|$untraced" "$demo" thread.nib
expect stress 0 10 '' "$demo" --gc-stress made.nib
expect allocations 0 10 \
  'allocated: 96 bytes, 1 objects at main \(made.nib:3\)\|allocated: 16 bytes, 1 objects at main \(made.nib:3\)\|' \
  "$demo" --allocations made.nib
expect heap 1 '' 'memory.nib:2:14: error: out of memory\|'"$untraced" "$demo" --heap 1 memory.nib
expect default_heap 1 '' \
  'long.nib:1:23: error: array length 134217727 is outside of 0 to 134217726\|'"$untraced" "$demo" long.nib
expect heap_of_nothing 2 '' '.+' "$demo" --heap 0 good.nib
expect fail 1 '' "fail.nib:3:5: error: none left\\|$untraced" "$demo" fail.nib

# With an agent, whatever it writes, errors come with the calls that led to them.
# The same calls, wherever their code is inlined or was replaced.
traced() { env LD_PRELOAD="$agent" JITQUILL_OPTIONS=formats=none "$@" ${tiers:+"$tiers"}; }
for tiers in '' --tier1 --tier2 --hot=1; do
  expect fail_traced 1 '' \
    "fail.nib:3:5: error: none left\\|  at f \\(fail.nib:3\\)\\|  at f \\(fail.nib:5\\)\\|  at main \\(fail.nib:8\\)\\|" traced "$demo" fail.nib
  expect division_traced 1 1 'zero.nib:4:11: error: division by zero\|  at main \(zero.nib:4\)\|' traced "$demo" zero.nib
  expect integer_overflow_traced 1 2000000000 \
    'sum.nib:4:7: error: integer overflow\|  at grow \(sum.nib:4\)\|  at twice \(sum.nib:9\)\|  at main \(sum.nib:14\)\|' \
    traced "$demo" sum.nib
  sed 's/grow(n, 0)/grow(n, 2)/' sum.nib >deeper.nib
  expect deep_integer_overflow_traced 1 2000000000 \
    'deeper.nib:4:7: error: integer overflow\|  at grow \(deeper.nib:4\)\|(  at grow \(deeper.nib:6\)\|){2}  at twice \(deeper.nib:9\)\|  at main \(deeper.nib:14\)\|' \
    traced "$demo" deeper.nib
  expect bounds_traced 1 40 \
    'bounds.nib:6:12: error: index 3 is outside of an array of 3\|  at sum \(bounds.nib:6\)\|  at checked \(bounds.nib:9\)\|  at main \(bounds.nib:16\)\|' \
    traced "$demo" bounds.nib
  sed "s/array(3, 10)/array(0, 10)/" bounds.nib >inner.nib
  expect inner_bounds_traced 1 40 \
    'inner.nib:6:12: error: index 0 is outside of an array of 0\|  at sum \(inner.nib:6\)\|(  at sum \(inner.nib:5\)\|){3}  at checked \(inner.nib:9\)\|  at main \(inner.nib:16\)\|' \
    traced "$demo" inner.nib
  expect heap_traced 1 '' \
    'memory.nib:2:14: error: out of memory\|(  at grow \(memory.nib:[24]\)\|){2}  at main \(memory.nib:9\)\|' \
    traced "$demo" --heap 1 memory.nib
  expect full_heap_traced 1 '' 'list.nib:5:9: error: out of memory\|  at main \(list.nib:5\)\|' traced "$demo" --heap 1 list.nib
  expect null_traced 1 2 "null.nib:3:11: error: null has no field 'x'\\|  at f \\(null.nib:3\\)\\|  at main \\(null.nib:7\\)\\|" traced "$demo" null.nib
  expect thread_traced 1 '' \
    'thread.nib:2:12: error: division by zero\|  at f \(thread.nib:2\)\|  at spawn f \(thread.nib:1\)\|' traced "$demo" thread.nib
  # A tail call takes its caller's place: the trace has no checked().
  sed 's/let result = sum(rows\[row\], 4); return result;/return sum(rows[row], 4);/' bounds.nib >tail.nib
  expect tail_call_traced 1 40 \
    'tail.nib:6:12: error: index 3 is outside of an array of 3\|  at sum \(tail.nib:6\)\|  at main \(tail.nib:16\)\|' \
    traced "$demo" tail.nib
  expect stack_overflow_traced 1 '' \
    "deep.nib:1:4: error: stack overflow in function 'down'\\|(  at down \\(deep.nib:1\\)\\|){20}  \.\.\. [0-9]{4,} calls left out\\|(  at down \\(deep.nib:1\\)\\|){4}  at main \\(deep.nib:2\\)\\|" \
    traced "$demo" deep.nib
done
expect no_file 2 '' '.+' "$demo"
expect missing_file 2 '' "demo-jit: cannot read 'none.nib': No such file or directory\\|" "$demo" none.nib
expect folder 2 '' "demo-jit: cannot read 'folder': Is a directory\\|" "$demo" folder
expect unknown_option 2 '' '.+' "$demo" --fast good.nib
expect full_disk 1 '' 'demo-jit: cannot write the output: .+\|' sh -c '"$1" good.nib >/dev/full' sh "$demo"
expect random_bytes 1 '' '.*error.*' sh -c 'head -c 100000 /dev/urandom >noise.nib; exec "$1" noise.nib' sh "$demo"
exit $failed
