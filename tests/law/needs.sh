#!/usr/bin/env bash
# A library in the host needs what is named and the loader only, has at most 64 bytes of TLS, all of it static, cannot be
# unloaded, has no static destructor, and calls neither the host's allocator nor stdio nor anything that ends a process.
set -euo pipefail
library=$1
shift
failed=0
fail() { echo "$1"; failed=1; }

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx ld-linux-x86-64.so.2 | sort | xargs)
[ "$needed" = "$*" ] || fail "needs: $needed"

tls=$(($(readelf -lW "$library" | awk '$1 == "TLS" {print $6}')))
[ "$tls" -le 64 ] || fail "TLS: $tls bytes"
readelf -dW "$library" | grep -q NODELETE || fail "can be unloaded"

called=$(nm -D --undefined-only "$library" | awk '{sub(/@.*/, "", $2); print $2}')
[ -n "$called" ] || fail "no undefined symbols at all: nm failed"
# What static destructors are registered with.
grep -qx __cxa_atexit <<<"$called" && fail "has static destructors"
for name in malloc calloc realloc free posix_memalign aligned_alloc _Znwm _ZdlPv abort exit __assert_fail \
            printf fprintf vfprintf fputs fwrite puts fopen sigaction signal __tls_get_addr \
            write writev open openat mmap close; do
  if grep -qx "$name" <<<"$called"; then fail "calls $name"; fi
done
exit $failed
