'use strict';
function inner(a, b) {
  return (a * 31 + b) | 0;
}

function hot(n) {
  let x = 1;
  for (let i = 0; i < n; i++) {
    x = inner(x, i);
    x ^= x >>> 3;
    if (x % 7 === 3) {
      x += Math.imul(x, i);
    }
  }
  return x;
}

// Long enough calls that hot() stays a function of its own for most of the time.
const cpu_ms = () => process.cpuUsage().user / 1000;
const until = cpu_ms() + Number(process.argv[2]);
let sum = 0;
while (cpu_ms() < until) {
  sum ^= hot(3000000);
}
console.log(typeof sum);
