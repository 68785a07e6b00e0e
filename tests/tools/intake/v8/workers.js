'use strict';
const { Worker, isMainThread, workerData } = require('node:worker_threads');

function in_worker(n) {
  let x = 1;
  for (let i = 0; i < n; i++) {
    x = (x * 35 + i) | 0;
  }
  return x;
}

const cpu_ms = () => process.cpuUsage().user / 1000; // of all threads

if (isMainThread) {
  const until = cpu_ms() + Number(process.argv[2]);
  for (let i = 0; i < 3; i++) {
    new Worker(__filename, { workerData: until }).on('message', (kind) => console.log(kind));
  }
} else {
  let sum = 0;
  while (cpu_ms() < workerData) {
    sum ^= in_worker(3000000);
  }
  require('node:worker_threads').parentPort.postMessage(typeof sum);
}
