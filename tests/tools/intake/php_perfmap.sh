#!/usr/bin/env bash
# PHP writes a perf map of its own, which it opens past us; we add the bytes: php_perfmap.sh PRELOAD
source "$(dirname "$0")/intake.sh"
source "$here/../matrix/measures.sh"
needs php
cp "$here/../matrix/programs/"{nested.php,jit.ini} "$here/../matrix/without_map.sh" .
options=intakes=perfmap

# 0x10: write the map. 0x100: the buffer stays executable, or perf forgets at each change what it knew (docs/intake-itt.md).
php=(bash without_map.sh php -c jit.ini -d opcache.jit=tracing -d opcache.jit_debug=0x110 nested.php 150)
same_both_ways "${php[@]}"
record "${php[@]}"
names_all '^(JIT\$|jit\$|TRACE-)'
tops | grep -cE '^TRACE-[0-9]+\$inner' >/dev/null || fail "no sample in inner"
[ "$(counted perfmap_lines_broken)" = 0 ] || fail "broken lines"
