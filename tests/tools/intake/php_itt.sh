#!/usr/bin/env bash
# PHP's JIT tells VTune's collector of its code, which is us: php_itt.sh COLLECTOR
source "$(dirname "$0")/intake.sh"
needs php
cp "$here/hot.php" .
with_preload() { env INTEL_JIT_PROFILER64="$preload" JITQUILL_OPTIONS="dir=$folder/out $options" "$@"; }
stacks=no

# 0x80: tell VTune. 0x100: the buffer stays executable, or perf forgets at each change what it knew (docs/intake-itt.md).
php=(php -d opcache.enable=1 -d opcache.enable_cli=1 -d opcache.file_update_protection=0
  -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=0x180 hot.php)
runs_alike "${php[@]}"
record "${php[@]}"
names_all '^(JIT\$|TRACE-)'
has_sample '^TRACE-[0-9]+\$inner'
[ "$(counted itt_reports_broken)" = 0 ] || fail "broken reports"
