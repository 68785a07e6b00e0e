'use strict';
// Run with --expose-gc --stress-compaction: each collection moves all code. Half of it dies.
const made = [];
for (let i = 0; i < 60; i++) {
  const moved = new Function('n', `let x = ${i}; for (let i = 0; i < n; i++) x = (x * 31 + i) | 0; return x;`);
  for (let k = 0; k < 20; k++) moved(3000);
  if (i % 2 === 0) made.push(moved);
}
for (let i = 0; i < 5; i++) gc();

const cpu_ms = () => process.cpuUsage().user / 1000;
const until = cpu_ms() + Number(process.argv[2]);
let sum = 0;
while (cpu_ms() < until) {
  for (const moved of made) sum ^= moved(300000);
}
console.log(typeof sum);
