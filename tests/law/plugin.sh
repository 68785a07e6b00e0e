#!/usr/bin/env bash
# A plugin needs what is named and the loader only, has at most 64 bytes of TLS, and cannot be unloaded.
#   plugin.sh LIBRARY NEEDED...
set -euo pipefail
library=$1
shift
failed=0
fail() { echo "$1"; failed=1; }

needed=$(readelf -dW "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vx ld-linux-x86-64.so.2 | sort | xargs)
[ "$needed" = "$*" ] || fail "needs: $needed"
readelf -dW "$library" | grep -q NODELETE || fail "can be unloaded"
readelf -lW "$library" | grep -q '^ *LOAD' || fail "readelf failed"
tls=$(($(readelf -lW "$library" | awk '$1 == "TLS" {print $6}')))
[ "$tls" -le 64 ] || fail "TLS: $tls bytes"
exit $failed
