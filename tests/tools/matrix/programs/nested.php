<?php // Three hot functions inside each other: nested.php ROUNDS. Waits for its stdin's end before its own.
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
function outer($n) {
  $sum = 0;
  for ($i = 0; $i < 10; $i++) $sum += middle($n * $i);
  return $sum;
}

$sum = 0;
for ($i = 0; $i < (int)$argv[1]; $i++) $sum += outer($i);
echo $sum, "\n";
while (fgets(STDIN) !== false);
exit(3);
