# The matrix: real runtimes that nobody changed, each with its program of three hot functions inside each other.
#
# A row is   row NAME KEY='VALUE' ...
#   runs         ci: always; long: with cmake/test.sh --long
#   runtime, intake   as the README says them
#   version      a command that says which one is there, where the runtime's name does not
#   environment  NAME=VALUE that the user must set; options: JITQUILL_OPTIONS
#   preload_by   the variable that names our library, LD_PRELOAD if not said
#   needs        programs that must be installed
#   build        makes the program in the folder that has all of programs/
#   command      what is run there; the README shows it
#   names        every sample in executable memory without a file has a name like this (99 %)
#   hot          the three functions' names, innermost first: their bytes are those in memory at the end, and 99 % of all bytes
#   bytes_but    why that is not so of all three
#   lines        FILE: samples in the innermost function (`lines_in`, else the first of `stacks`) come from the lines that the file
#                marks (99 %)
#   no_lines     why there are none
#   stacks       what DWARF call graphs show behind samples in the innermost function (99 %)
#   stacks_say   what else is to be said of them; no_stacks: why there are none
#   counts       NAME OPERATOR NUMBER, ...: of the statistics
# Names are extended regular expressions.

row lli_14_mcjit runs=long runtime='LLVM 14, MCJIT' intake='gdb, frames' \
  environment='JITDUMPDIR=/dev/null' needs='lli-14 clang-14' \
  build='clang-14 -g -O1 -S -emit-llvm nested.c -o nested.ll' \
  command='lli-14 -jit-kind=mcjit nested.ll 100' \
  names='^(inner|middle|outer|run|main)$' hot="'^inner$' '^middle$' '^outer$'" \
  lines=nested.c stacks='^inner$ ^middle$ ^outer$ ^run$ ^main$' \
  counts='jit_interfaces_watched -eq 1, code_unreadable -eq 0, symfiles_waited -gt 0'

row lli_14_orc runs=long runtime='LLVM 14, ORC' intake='gdb' needs='lli-14 clang-14' \
  build='clang-14 -g -O1 -S -emit-llvm nested.c -o nested.ll' \
  command='lli-14 -jit-kind=orc nested.ll 100' \
  names='^(inner|middle|outer|run|main)$' hot="'^inner$' '^middle$' '^outer$'" \
  lines=nested.c stacks='^inner$ ^middle$ ^outer$ ^run$ ^main$' \
  counts='jit_interfaces_watched -eq 1, code_unreadable -eq 0'

row lli_19_mcjit runs=ci runtime='LLVM 19, MCJIT' intake='gdb, frames' \
  environment='JITDUMPDIR=/dev/null' needs='lli-19 clang-19' \
  build='clang-19 -g -O1 -S -emit-llvm nested.c -o nested.ll' \
  command='lli-19 -jit-kind=mcjit nested.ll 100' \
  names='^(inner|middle|outer|run|main)$' hot="'^inner$' '^middle$' '^outer$'" \
  lines=nested.c stacks='^inner$ ^middle$ ^outer$ ^run$ ^main$' \
  counts='jit_interfaces_watched -eq 1, code_unreadable -eq 0, symfiles_waited -gt 0'

row lli_19_orc runs=long runtime='LLVM 19, ORC' intake='gdb' needs='lli-19 clang-19' \
  build='clang-19 -g -O1 -S -emit-llvm nested.c -o nested.ll' \
  command='lli-19 -jit-kind=orc nested.ll 100' \
  names='^(inner|middle|outer|run|main)$' hot="'^inner$' '^middle$' '^outer$'" \
  lines=nested.c stacks='^inner$ ^middle$ ^outer$ ^run$ ^main$' \
  counts='jit_interfaces_watched -eq 1, code_unreadable -eq 0'

row clang_repl_19 runs=long runtime='clang-repl 19' intake='gdb' needs='clang-repl-19' \
  command="clang-repl-19 -Xcc -g -Xcc -O1 -Xcc -DNO_MAIN '#include \"nested.c\"' 'exit(run(100));'" \
  names='^(inner|middle|outer|run|_GLOBAL__sub_I|__orc_init_func)' hot="'innerm$' 'middlem$' 'outerm$'" \
  lines=nested.c stacks='^inner$ ^middle$ ^outer$ ^run$' \
  counts='jit_interfaces_watched -eq 1, code_unreadable -eq 0'

row openjdk_17 runs=ci runtime='openjdk 17' intake='jvmti' needs='java javac' \
  build='javac Nested.java' \
  command='java -Xbatch -XX:+PreserveFramePointer -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Nested::* Nested 130000' \
  names='^((Nested|java|jdk|sun)[.]|Interpreter$|StubRoutines)' \
  hot="'^Nested[.]inner' '^Nested[.]middle' '^Nested[.]outer'" \
  bytes_but='calls are linked when they are first made' \
  lines=Nested.java stacks='^Nested[.]inner ^(Nested[.]middle|Interpreter$) ^(Nested[.]outer|Interpreter$)' \
  counts='java_refused -eq 0'

row node runs=ci runtime='node' intake='v8' needs='node' version='node --version' \
  command='node --max-inlined-bytecode-size=0 nested.js 10000' \
  names='^(JS|RegExp|Builtin|Stub|BytecodeHandler|Function|LazyCompile|Script|Eval):' \
  hot="'^JS:[*]inner ' '^JS:.middle ' '^JS:.outer '" \
  lines=nested.js stacks='^JS:[*]inner ^(JS:.middle|Builtins_InterpreterEntryTrampoline$) ^(JS:.outer|Builtins_InterpreterEntryTrampoline$)' \
  counts='v8_refused -eq 0, v8_lines_lost -eq 0'

row node_perfmap runs=ci runtime='a perf map of its own: node' intake='perfmap' needs='node' version='node --version' \
  options='intakes=perfmap' \
  command='bash without_map.sh node --max-inlined-bytecode-size=0 --perf-basic-prof nested.js 10000' \
  names='^(JS|RegExp|Builtin|Stub|BytecodeHandler|Function|LazyCompile|Script|Eval):' \
  hot="'^JS:[*]inner ' '^JS:.middle ' '^JS:.outer '" \
  no_lines='none in a map' no_stacks='no tables in a map' \
  counts='perfmap_lines_broken -eq 0'

row erlang runs=long runtime='Erlang/OTP 25' intake='gdb' needs='erl erlc' \
  build='erlc nested.erl' \
  command='erl -noshell -run nested main 200' \
  names="^'?[a-z][a-z0-9_@]*'?:" hot="'^nested:inner/2' '^nested:middle/1' '^nested:outer/1'" \
  lines=nested.erl lines_in='^nested:inner/2' no_stacks='its stacks are its own' \
  counts='symfiles_refused -eq 0, symfile_functions -gt 10000'

row erlang_perfmap runs=long runtime='a perf map of its own: Erlang/OTP 25' intake='perfmap' needs='erl erlc' \
  options='intakes=perfmap' build='erlc nested.erl' \
  command='bash without_map.sh erl +JPperf map -noshell -run nested main 200' \
  names='^\$' hot="'nested:inner/2' 'nested:middle/1' 'nested:outer/1'" \
  no_lines='none in a map' no_stacks='its stacks are its own' \
  counts='perfmap_lines_broken -eq 0, functions_loaded -gt 10000'

row php_functions runs=long runtime='PHP 8.2, functions' intake='gdb' needs='php' \
  command='php -c jit.ini -d opcache.jit=1205 -d opcache.jit_debug=0x100 nested.php 150' \
  names='^(JIT\$|TRACE-)' hot="'^JIT[$]inner' '^JIT[$]middle' '^JIT[$]outer'" \
  no_lines='none in its interface' \
  stacks='^JIT[$]inner$ ^zend_execute$ ^zend_execute_scripts$ ^php_execute_script$' \
  stacks_say="calls within PHP are not on the machine's stack" \
  counts='symfiles_refused -eq 0'

row php_traces runs=long runtime='PHP 8.2, traces' intake='gdb' needs='php' \
  command='php -c jit.ini -d opcache.jit=tracing -d opcache.jit_debug=0x100 nested.php 150' \
  names='^(JIT\$|TRACE-)' hot="'^TRACE-[0-9]+[$]inner' '^TRACE-[0-9]+[$]middle' '^TRACE-[0-9]+[$]outer'" \
  bytes_but='side traces are linked into them later' \
  no_lines='none in its interface' \
  stacks='^TRACE-[0-9]+[$]inner ^zend_execute$ ^zend_execute_scripts$ ^php_execute_script$' \
  stacks_say="calls within PHP are not on the machine's stack" \
  counts='symfiles_refused -eq 0'

# 0x80: tell VTune. 0x100: the buffer stays executable, or perf forgets at each change what it knew (docs/intake-itt.md).
row php_itt runs=ci runtime='PHP 8.2, traces' intake='itt' needs='php' \
  preload_by=INTEL_JIT_PROFILER64 \
  command='php -c jit.ini -d opcache.jit=tracing -d opcache.jit_debug=0x180 nested.php 150' \
  names='^(JIT\$|TRACE-)' hot="'^TRACE-[0-9]+[$]inner' '^TRACE-[0-9]+[$]middle' '^TRACE-[0-9]+[$]outer'" \
  bytes_but='side traces are linked into them later' \
  no_lines='not told' no_stacks='no tables in its interface' \
  counts='itt_reports_broken -eq 0'
