#!/usr/bin/env bash
# A program that has LLVM's JIT in it in some way: embedded.sh PRELOAD HOW. HOW is how it opens libLLVM when it already runs, or
# shell: as global, started by a shell that goes on afterwards; static: linked with LLVM's static libraries, whose interface is in .symtab alone.
source "$(dirname "$0")/intake.sh"
source "$here/../matrix/measures.sh"
how=$2
needs clang-14
clang-14 -g -O1 -c -emit-llvm "$here/../matrix/programs/nested.c" -o nested.bc
if [ "$how" = static ]; then
  config=$(command -v llvm-config-14 || echo /usr/lib/llvm-14/bin/llvm-config)
  [ -e "$("$config" --libdir)/libLLVMMCJIT.a" ] || {
    echo "llvm-14-dev is not installed"
    exit 77
  }
  clang-14 -O1 -DLINKED -c "$here/llvm_host.c" -o host.o
  # shellcheck disable=SC2046  # words
  g++ host.o -o host -L"$("$config" --libdir)" $("$config" --link-static --libs --system-libs mcjit native bitreader)
  host=(./host nested.bc)
else
  clang-14 -O1 "$here/llvm_host.c" -o host -ldl
  host=(./host nested.bc libLLVM-14.so.1 "$how")
  if [ "$how" = shell ]; then host=(sh -c './host nested.bc libLLVM-14.so.1 global; code=$?; true; exit $code'); fi
fi

same_both_ways "${host[@]}"
[ "$(counted jit_interfaces_watched)" = 1 ] || fail "its interface is not watched"
[ "$(counted symfile_functions)" = 5 ] || fail "$(counted symfile_functions) functions"
[ "$(find out -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ] || fail "not one folder: $(ls out)"
[ "${JITQUILL_LONG:-0}" = 1 ] || exit 0
record "${host[@]}"
names_all '^(inner|middle|outer|run|main)$'
chains '^inner$' '^middle$' '^outer$' '^run$' '^main$'
