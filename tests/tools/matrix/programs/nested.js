// Three hot functions inside each other: nested.js ROUNDS. Waits for its stdin's end before its own.
'use strict';
function inner(n) {
  let sum = n;
  for (let i = 0; i < 1000; i++) { // the loop's first line
    sum = (Math.imul(sum, 1103515245) + 12345) | 0;
  } // the loop's last line
  return sum;
}
function middle(n) {
  let sum = 0;
  for (let i = 0; i < 10; i++) sum = (sum + inner(n + i)) | 0;
  return sum;
}
function outer(n) {
  let sum = 0;
  for (let i = 0; i < 10; i++) sum = (sum + middle(n * i)) | 0;
  return sum;
}

let sum = 0;
for (let i = 0; i < Number(process.argv[2]); i++) sum = (sum + outer(i)) | 0;
console.log(sum);
require('fs').readFileSync(0);
process.exitCode = 3;
