import process from 'node:process';

function in_module(n) {
  let x = 1;
  for (let i = 0; i < n; i++) {
    x = (x * 33 + i) | 0;
  }
  return x;
}

const cpu_ms = () => process.cpuUsage().user / 1000;
const until = cpu_ms() + Number(process.argv[2]);
let sum = 0;
while (cpu_ms() < until) {
  sum ^= in_module(3000000);
}
console.log(typeof sum);
