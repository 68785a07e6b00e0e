# How a row of the matrix is measured; sourced behind intake/intake.sh, in its folder.

declare -A figures  # what was measured, each "SO ALL"

# demand FIGURE WHAT SO ALL: at least 99 of 100, and enough of them to say so.
demand() {
  echo "$2: $3 of $4"
  figures[$1]="$3 $4"
  if [ "$4" -lt 100 ] || [ $((100 * $3)) -lt $((99 * $4)) ]; then fail "$2"; fi
}

# runs_alike COMMAND...: stdout, stderr and exit code are what they are without us; and before the program ends, which
# it does when its stdin does, its memory is compared with the dump.
runs_alike() {
  local without=0 with=0
  timeout 300 "$@" >plain.out 2>plain.err || without=$?
  mkfifo stdin stdout
  with_preload timeout 300 "$@" <stdin >stdout 2>with.err &
  local host=$!
  exec 4>stdin 5<stdout
  IFS= read -r result <&5 || true
  compare_memory
  exec 4>&-
  { echo "$result"; cat <&5; } >with.out
  wait $host || with=$?
  exec 5<&-
  [ "$with" = "$without" ] || fail "exit code $with, without us $without: $(head -c 500 with.err with.out)"
  [ "$with" = 3 ] || fail "exit code $with: the program itself went wrong"
  cmp plain.out with.out || fail "another stdout"
  cmp plain.err with.err || fail "another stderr"
}

# Every hot function is in the dump, soon at least: some intakes hear of code after it was made. And it is as it is in
# memory if the runtime does not change it later ($bytes_but).
compare_memory() {
  local tries=100
  until look_at_memory || [ $((--tries)) = 0 ]; do sleep 0.1; done
  demand bytes 'bytes as in memory' $(sed -n 's/^bytes //p' memory)
  figures[functions]=$(sed -n 's/^functions //p' memory)
  figures[hot]=$(awk '$1 == "hot" {so += $2; all += $3} END {print so, all}' memory)
  awk -v but="$bytes_but" '$1 == "hot" && ($3 == 0 || (but == "" && $2 != $3)) {exit 1}' memory ||
    fail "bytes of the hot functions: $(cat memory)"
}

# False while a hot function is not in the dump.
look_at_memory() {
  local dumps=(out/*-[0-9]*/jit-*.dump)
  if [ ${#dumps[@]} != 1 ] || ! [ -s "${dumps[0]}" ]; then fail "not one dump: ${dumps[*]}"; fi
  "$dump_memory" "${dumps[0]}" "${hot[@]}" >memory || fail "memory: $(cat memory)"
  ! grep -q '^hot 0 0$' memory
}

# record COMMAND...: perf's samples, jitted code named, in `script`, with stacks. Exit 77 where perf cannot record.
record() {
  rm -rf out
  needs perf
  perf record -q -e cpu-clock -o probe.data true >/dev/null 2>probe.err || {
    echo "perf cannot record: $(head -1 probe.err)"
    exit 77
  }
  with_preload perf record -q -e cpu-clock -k mono -F 1500 --call-graph dwarf,8192 -o perf.data "$@" \
    >/dev/null 2>record.err || true
  perf --buildid-dir "$folder/buildid" inject --jit -i perf.data -o jitted.data >inject.out 2>&1 || fail "perf inject: $(cat inject.out)"
  perf script -i jitted.data --no-inline -F ip,sym,dso >script 2>script.err
  [ -s script ] || fail "no samples: $(cat record.err script.err)"
}

# The innermost frame of each sample, as "symbol (object)".
tops() { awk 'BEGIN {RS = ""; FS = "\n"} {sub(/^[ \t]*[0-9a-f]+ /, "", $1); print $1}' script; }

# names_all PATTERN: of the samples in executable memory without a file of its own, those with a name that matches.
names_all() {
  tops | awk -v pattern="$1" '
    !/\((\/.*jitted-[0-9]+-[0-9]+\.so|\/\/anon|\[unknown\]|\/?memfd:.*|\[heap\]|\/dev\/zero.*|\/tmp\/perf-[0-9]+\.map|anon_inode.*)\)$/ {next}
    {all++; name = $0; sub(/ \([^(]*\)$/, "", name); if (name ~ pattern) named++; else wrong[$0]++}
    END {
      for (what in wrong) print wrong[what], "wrong:", what >"/dev/stderr"
      print named + 0, all + 0
    }' >share
  demand names 'samples named' $(cat share)
}

# chains INNERMOST OUTER...: of the samples in INNERMOST, those with the others behind it, in this order and without
# others. Each is a pattern.
chains() {
  awk -v wanted="$*" '
    BEGIN {RS = ""; FS = "\n"; count = split(wanted, names, " ")}
    {
      for (i = 1; i <= NF; ++i) {sub(/^[ \t]*[0-9a-f]+ /, "", $i); sub(/ \([^(]*\)$/, "", $i)}
      if ($1 !~ names[1]) next
      ++all
      for (i = 1; i <= count && $i ~ names[i]; ++i) ;
      if (i > count) ++whole
    }
    END {print whole + 0, all + 0}' script >share
  demand stacks 'stacks whole' $(cat share)
}

# lines_lie PATTERN FILE: of the samples in functions of such names, those from the lines of the file that it marks.
lines_lie() {
  local first last
  first=$(grep -n 'first line' "$2" | cut -d: -f1)
  last=$(grep -n 'last line' "$2" | cut -d: -f1)
  perf script -i jitted.data -G --no-inline -F ip,sym,srcline 2>/dev/null | awk -v name="$1" -v first="$first" -v last="$last" -v file="$2" '
    inside && match($0, /[^ \t\/]+:[0-9]+(:[0-9]+)?$/) {
      split(substr($0, RSTART), place, ":")
      ++all
      if (place[1] == file && place[2] >= first && place[2] <= last) ++right; else ++wrong[$0]
    }
    {line = $0; sub(/^[ \t]*[0-9a-f]+ /, "", line); inside = line ~ name}
    END {
      for (what in wrong) print wrong[what], "wrong:", what >"/dev/stderr"
      print right + 0, all + 0
    }' >share
  demand lines 'lines right' $(cat share)
}
