'use strict';
// All that a program can see of how it was started; it starts others, and ends with 3.
const { execFileSync, fork } = require('node:child_process');

if (process.argv[2] === 'child') {
  process.send(Object.keys(require.cache).length);
} else {
  const names = Object.keys(process.env).filter((name) => !/^(LD_PRELOAD|JITQUILL_OPTIONS|ASAN_OPTIONS|_)$/.test(name));
  console.log(JSON.stringify([names.sort(), process.env.NODE_OPTIONS, process.execArgv, process.argv.slice(2)]));
  console.log(Object.keys(require.cache).length, module.children.length, new Error('where').stack);
  console.log(String(execFileSync(process.execPath, ['-p', 'process.execArgv + process.env.NODE_OPTIONS'])));
  fork(__filename, ['child']).on('message', (count) => console.log('child', count));
  process.on('exit', () => console.error('ends'));
  process.exitCode = 3;
}
