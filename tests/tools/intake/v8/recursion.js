'use strict';
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

const cpu_ms = () => process.cpuUsage().user / 1000;
const until = cpu_ms() + Number(process.argv[2]);
let sum = 0;
while (cpu_ms() < until) {
  sum ^= fib(27);
}
console.log(typeof sum);
