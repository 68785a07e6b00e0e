#!/usr/bin/env bash
# PHP's JIT, which tells debuggers when it is asked to: php.sh PRELOAD
source "$(dirname "$0")/intake.sh"
needs php
cp "$here/hot.php" .

for kind in 1205 tracing; do  # whole functions, when they are loaded; and traces of loops
  php=(php -d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.file_update_protection=0
    -d opcache.jit_buffer_size=64M -d "opcache.jit=$kind" -d opcache.jit_debug=0x100 hot.php)
  runs_alike "${php[@]}"
  record "${php[@]}"
  names_all '^(JIT\$|TRACE-)'
  has_sample '^(JIT|TRACE-[0-9]+)\$inner'
  [ "$(counted symfiles_refused)" = 0 ] || fail "refused symbol files"
done
