#!/bin/sh
# Writes a nib program that is always compiling: churn.sh FUNCTIONS ROUNDS [TURNS]. Each function is called once a round
# and turns a loop, so with `demo-jit --code-limit` nearly all are compiled again in each. It prints a number a round.
functions=$1 rounds=$2 turns=${3:-2}
awk -v functions="$functions" -v rounds="$rounds" -v turns="$turns" 'BEGIN {
  group = 50
  for (i = 0; i < functions; ++i)
    printf "fn f%d(n: int) -> int { var i = 0; while i < %d { n = (n * 31 + %d) %% 1000003; i = i + 1; } return n; }\n", i, turns + i % 5, i
  for (g = 0; g * group < functions; ++g) {
    printf "fn group%d(n: int) -> int {\n", g
    for (i = g * group; i < (g + 1) * group && i < functions; ++i) printf "  n = f%d(n);\n", i
    print "  return n;\n}"
  }
  print "fn main() {\n  var n = 1;\n  var round = 0;\n  while round < " rounds " {"
  for (g = 0; g * group < functions; ++g) printf "    n = group%d(n);\n", g
  print "    print(n);\n    round = round + 1;\n  }\n}"
}'
