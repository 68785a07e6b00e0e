<?php
function inner($n) {
  $sum = $n;
  for ($i = 0; $i < 20000; $i++) {
    $sum = ($sum * 1103515 + 12345) % 2147483647;
  }
  return $sum;
}
function middle($n) {
  $sum = 0;
  for ($i = 0; $i < 10; $i++) $sum += inner($n + $i);
  return $sum;
}
for ($i = 0; $i < 400; $i++) $total = ($total ?? 0) + middle($i);
echo $total, "\n";
exit(3);
