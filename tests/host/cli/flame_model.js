// Prints what the page's model knows: node flame_model.js PAGE. The class is the page's own text.
'use strict';
const page = require('fs').readFileSync(process.argv[2], 'utf8');
const scripts = [...page.matchAll(/<script( [^>]*)?>([^]*?)<\/script>/g)].map(found => found[2]);
const Flame = new Function(scripts[1] + '\nreturn Flame;')();
new Function(scripts[2]);  // it is a program
const flame = new Flame(JSON.parse(scripts[0]));
const all = () => true;
console.log('sum', flame.sum, 'levels', flame.levels, 'frames', flame.count);
for (let i = 0; i < flame.count && flame.count < 50; ++i) console.log(flame.depth[i], flame.start[i], flame.told(i));
for (const words of process.argv.slice(3)) {
  const {frames, amount, widest} = flame.search(words);
  console.log('search', words, frames.length, amount, widest);
}
let at = 0;
for (const key of ['ArrowRight', 'ArrowUp', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowLeft']) {
  at = flame.next(at, key, all);
  console.log(key, flame.text(at));
}
