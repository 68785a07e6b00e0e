#!/usr/bin/env bash
# Symbol files that a debugger takes from real JITs, damaged and read: damaged.sh PRELOAD MUTATIONS LLI CLANG
source "$(dirname "$0")/intake.sh"
mutations=$2 lli=$3 clang=$4
needs gdb
needs "$lli"
needs "$clang"
"$clang" -g -O1 -S -emit-llvm "$here/../matrix/programs/nested.c" -o nested.ll
cat >take.py <<'END'
import gdb, os, struct

class Registered(gdb.Breakpoint):
    count = 0

    def stop(self):
        self.count += 1
        memory = gdb.selected_inferior().read_memory
        word = lambda at: struct.unpack('<Q', bytes(memory(at, 8)))[0]
        entry = word(int(gdb.parse_and_eval('(unsigned long)&__jit_debug_descriptor')) + 8)
        if entry:
            name = '%s-%d.sym' % (os.environ['TAKEN_FROM'], self.count)
            open(name, 'wb').write(bytes(memory(word(entry + 16), word(entry + 24))))
        return False

gdb.execute('set breakpoint pending on')
Registered('__jit_debug_register_code')
gdb.execute('run')
END
for kind in mcjit orc; do
  TAKEN_FROM=$kind timeout 120 gdb -nx -q -batch -ex 'set confirm off' -ex 'set startup-with-shell off' -x take.py \
    --args "$lli" "-jit-kind=$kind" nested.ll >gdb.out 2>&1 </dev/null || true
  if grep -qiE 'ptrace: Operation not permitted|Could not trace the inferior' gdb.out; then
    echo "processes may not be traced here"
    exit 77
  fi
done
[ -n "$(ls mcjit-*.sym orc-*.sym)" ] || fail "nothing taken: $(cat gdb.out)"
# The program's own; others are of LLVM's runtime, which has no lines.
with_lines=$(grep -l nested.c ./*.sym)
[ "$(wc -l <<<"$with_lines")" -ge 2 ] || fail "taken: $(ls ./*.sym)"
times=20000
if [ "${JITQUILL_LONG:-0}" = 1 ]; then times=1000000; fi
# shellcheck disable=SC2086  # one file a line, without blanks
"$mutations" 1 $times $with_lines || fail "a promise is broken"
