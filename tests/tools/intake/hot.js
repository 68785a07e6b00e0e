function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
function longest(limit) {
  let best = 0;
  for (let i = 1; i < limit; i++) {
    let steps = 0;
    for (let n = i; n !== 1; steps++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
    if (steps > best) best = steps;
  }
  return best;
}
console.log(fib(35), longest(300000));
process.exitCode = 3;
