#!/usr/bin/env bash
# The installed tree serves projects that know nothing of ours: by find_package() and by pkg-config, where it was installed and
# after it was moved.
#   installed.sh SOURCE_DIR BUILD_DIR CMAKE CC CXX JITDUMP_CHECK
set -euo pipefail
source_dir=$1 build_dir=$2 cmake=$3 CC=$4 CXX=$5 check=$6
project=$source_dir/tests/host/outside/project
strict=(-Wall -Wextra -Wconversion -pedantic -Werror)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

fail() { echo "$*"; exit 1; }

# quietly COMMAND...: what it says is of interest only if it fails.
quietly() { "$@" >"$folder/said" 2>&1 || { cat "$folder/said"; fail "failed: $*"; }; }

# expect_adders FOLDER: below it lies one dump; the strict reader finds no fault in it, and the three functions.
expect_adders() {
  local dumps
  mapfile -t dumps < <(find "$1" -name 'jit-*.dump')
  [ ${#dumps[@]} -eq 1 ] || fail "$1: ${#dumps[@]} dumps"
  "$check" --list "${dumps[0]}" >"$folder/said" || { cat "$folder/said"; fail "${dumps[0]} is not whole"; }
  [ "$(awk '$NF ~ /^add_[123]$/ {print $NF}' "$folder/said" | paste -sd' ')" = "add_1 add_2 add_3" ] ||
    { cat "$folder/said"; fail "${dumps[0]} lacks functions"; }
}

# run_in FOLDER PRELOAD COMMAND...: the result is the same, whoever looks on.
run_in() {
  local place=$1 preload=$2 printed
  shift 2
  rm -rf "$place"
  mkdir "$place"
  printed=$(cd "$place" && LD_PRELOAD=$preload "$@")
  [ "$printed" = "result 6" ] || fail "$*, preloaded '$preload': $printed"
}

# expect_announces PROGRAM LIBRARY: works with and without the agent, and leaves a dump with.
expect_announces() {
  run_in alone "" "$1"
  [ -z "$(ls -A alone)" ] || fail "$1 left files without an agent"
  run_in watched "$2" "$1"
  expect_adders watched
}

# The process has one agent, also if another copy of the one that it is linked with is preloaded, or the library for
# programs that are not.
expect_linked() {
  local loaded preload
  run_in alone "" "$1"
  expect_adders alone
  cp "$(dirname "$2")/libjitquill.so" libcopy.so
  for preload in "$folder/libcopy.so" "$2"; do
    run_in watched "$preload" "$1"
    expect_adders watched
    loaded=$(LD_PRELOAD=$preload LD_TRACE_LOADED_OBJECTS=1 "$1" | grep -E 'libcopy|libjitquill\.so')
    [ "$(wc -l <<<"$loaded")" -eq 1 ] || fail "two agents: $loaded"
  done
}

# expect_programs BIN LIBRARY
expect_programs() {
  local program
  for program in lookup weak cpp adapter; do expect_announces "$1/$program" "$2"; done
  expect_linked "$1/linked" "$2"
  run_in files "" "$1/writer_only" .
  expect_adders files
}

# expect_command PREFIX PROGRAM: the command preloads the library of its own tree, wherever that is.
expect_command() {
  local loaded
  run_in commanded "" "$1/bin/jitquill" run -q -- "$2"
  expect_adders commanded
  loaded=$("$1/bin/jitquill" run -q --formats none -- grep -om1 '/.*libjitquill-preload.so' /proc/self/maps)
  [ "$loaded" = "$(realpath "$(find "$1" -name libjitquill-preload.so)")" ] || fail "the command of $1 preloads $loaded"
}

# by_cmake PREFIX
by_cmake() {
  rm -rf by-cmake
  quietly "$cmake" -S "$project" -B by-cmake -DCMAKE_PREFIX_PATH="$1" -DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
  quietly "$cmake" --build by-cmake
  expect_programs "$folder/by-cmake" "$(cat by-cmake/preload)"
  expect_command "$1" "$folder/by-cmake/lookup"
}

# by_pkg_config PREFIX: with the compilers' plain command lines, and warnings that a system header would not show.
by_pkg_config() {
  local headers linked writer library
  PKG_CONFIG_PATH=$(dirname "$(find "$1" -name jitquill.pc)")
  export PKG_CONFIG_PATH
  read -ra headers < <(pkg-config --cflags --libs jitquill-headers)
  read -ra linked < <(pkg-config --cflags --libs jitquill)
  read -ra writer < <(pkg-config --cflags --libs jitquill-writer)
  library=$(pkg-config --variable=preload jitquill)
  mkdir -p by-hand
  quietly "$CC" -std=c99 "${strict[@]}" "$project/runtime.c" -o by-hand/lookup "${headers[@]}"
  quietly "$CC" -std=c99 "${strict[@]}" -DJITQUILL_WEAK -fPIE -pie "$project/runtime.c" -o by-hand/weak "${headers[@]}"
  quietly "$CC" -std=c99 "${strict[@]}" "$project/runtime.c" -o by-hand/linked "${linked[@]}" -Wl,-rpath,"$(dirname "$library")"
  quietly "$CXX" -std=c++17 "${strict[@]}" "$project/runtime.cpp" -o by-hand/cpp "${headers[@]}"
  quietly "$CXX" -std=c++20 "${strict[@]}" "$project/runtime.cpp" -o by-hand/cpp "${headers[@]}"
  quietly "$CXX" -std=c++20 "${strict[@]}" "$project/adapter.cpp" -o by-hand/adapter "${headers[@]}" -lasmjit
  quietly "$CXX" -std=c++20 "${strict[@]}" "$project/writer_only.cpp" -o by-hand/writer_only "${writer[@]}"
  expect_programs "$folder/by-hand" "$library"
}

# expect_whole PREFIX: every header that the tree has, each fit to be included alone; one library name.
expect_whole() {
  local installed header
  installed=$(cd "$1/include/jitquill" && find . -type f | sort)
  diff <(cd "$source_dir/agent/include/jitquill" && find . -type f | sort) <(grep -v '^\./writer/' <<<"$installed") ||
    fail "agent/include (<) and what is installed (>) differ"
  diff <(cd "$source_dir" && find ./writer -name '*.hpp' -o -name '*.def' | sort) <(grep '^\./writer/' <<<"$installed") ||
    fail "writer (<) and what is installed (>) differ"
  grep '^\./writer/.*hpp$' <<<"$installed" | while read -r header; do
    echo "#include \"${header#./}\"" >one.cpp
    quietly "$CXX" -std=c++20 "${strict[@]}" -fsyntax-only -I "$1/include/jitquill" one.cpp
  done
  readelf -dW "$1"/lib*/libjitquill.so | grep -q 'SONAME.*\[libjitquill.so\]' || fail "the SONAME is not the file's name"
}

# expect_relocatable PREFIX: nothing that people's builds read names a place of this machine.
expect_relocatable() {
  local place
  for place in "$1" "$source_dir" "$build_dir"; do
    if grep -rIn -F "$place" "$1"; then fail "above: $place is named"; fi
  done
  if readelf -dW "$1"/lib*/libjitquill.so | grep -E 'RPATH|RUNPATH'; then fail "the library has a search path"; fi
}

quietly "$cmake" --install "$build_dir" --prefix "$folder/first"
expect_whole "$folder/first"
expect_relocatable "$folder/first"
by_cmake "$folder/first"
by_pkg_config "$folder/first"

mkdir elsewhere
mv first elsewhere/second
by_cmake "$folder/elsewhere/second"
by_pkg_config "$folder/elsewhere/second"
