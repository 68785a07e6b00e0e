// Stands behind a page's own scripts: uses it as people do, and leaves what it saw in the document.
'use strict';
(() => {
  const seen = [];
  const frames = () => [...document.querySelectorAll('.frame')];
  const note = what => seen.push(`${what}: ${document.getElementById('told').textContent}`);
  const key = name => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true}));
  const width = node => node.getBoundingClientRect().width;
  // Of those that nothing lies above: the function at whose own instructions most samples are.
  const leaves = frames().filter(a => !frames().some(b => Number(b.dataset.frame) === Number(a.dataset.frame) + 1 &&
                                                    Number(b.ariaLevel ?? b.getAttribute('aria-level')) > Number(a.getAttribute('aria-level'))));
  seen.push('widest: ' + leaves.sort((a, b) => width(b) - width(a))[0].textContent);
  document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}));
  seen.push('focus: ' + document.activeElement.id);
  const search = document.getElementById('search');
  search.value = 'HOT';
  search.dispatchEvent(new Event('input'));
  seen.push('found: ' + document.getElementById('found').textContent + ', lit ' + document.querySelectorAll('.hit').length);
  key('Enter');
  note('zoomed');
  seen.push('in sight: ' + frames().map(node => node.textContent).join(','));
  key('ArrowDown');
  note('down');
  key('Escape');
  key('Escape');
  seen.push('in sight: ' + frames().length);
  seen.push('network: ' + performance.getEntriesByType('resource').length);
  const out = document.createElement('pre');
  out.id = 'seen';
  out.textContent = seen.join('\n');
  document.body.append(out);
})();
