#!/usr/bin/env bash
# Who may include whom: the writer nothing of the agent, the demo only public headers, the public C header only C's own,
# the readers nothing of what they check.
set -euo pipefail
cd "$1"
failed=0

# forbid FOLDER PATTERN: no include below FOLDER may match.
forbid() {
  [ -n "$(find "$1" -name '*.?pp' -o -name '*.h' 2>/dev/null)" ] || { echo "$1: no files, the law looks in the wrong place"; failed=1; }
  if grep -rnE --include='*.?pp' --include='*.h' --include='*.def' "#include [<\"]($2)" "$1"; then
    echo "above: $1 may not include these"
    failed=1
  fi
}

forbid writer 'agent/|jitquill/'
forbid demo-jit '(\.\./)*(agent|writer)/'
forbid agent/include 'agent/|writer/|base/|life/'
forbid tests/readers 'agent/|writer/|jitquill/'
# The folders of the formats: all of the writer's but those that every format uses.
formats=$(ls writer | grep -vE '^(CMakeLists.txt|model|bytes|unwind|sink)$' | paste -sd'|')
# intake, hooks, api -> lanes -> drain -> sink; life/ holds them together, cli/ stands beside.
forbid agent/base "agent/(lanes|hooks|drain|life|api|intake|unwinders|preload|cli)/|writer/($formats)/"
forbid agent/lanes "agent/(drain|life|api|intake|unwinders|preload|cli)/|writer/($formats)/"
# Of the hooks lanes know what a CPU must provide, and what sites are: nothing that stands on lanes itself.
forbid agent/lanes 'agent/hooks/(left_alone|mirror|name_targets|site_hooks|stack_copy)'
forbid agent/stacks "agent/(lanes|hooks|drain|life|api|intake|unwinders|preload|cli)/|writer/($formats|sink)/"
forbid agent/sampler "agent/(lanes|hooks|drain|life|api|intake|unwinders|preload|cli)/|writer/($formats|sink)/"
forbid agent/hooks "agent/(drain|life|api|intake|unwinders|preload|cli)/|writer/($formats)/"
forbid agent/drain "agent/(hooks|life|api|intake|unwinders|preload|cli)/|writer/($formats)/"
forbid agent/life "agent/(api|preload|cli)/|writer/($formats)/"
forbid agent/api "agent/(drain|intake|preload|cli)/|writer/($formats)/"
forbid agent/intake "agent/(hooks|drain|api|preload|cli)/|writer/($formats|sink)/"
forbid agent/unwinders "agent/(lanes|hooks|drain|life|api|intake|preload|cli)/|writer/($formats|sink)/"
forbid agent/preload "writer/|jitquill/|agent/(api|base|hooks|drain|include|lanes|unwinders|cli)/"
# Of the formats it reads jitdump, eventlog and oprofile, by their checkers.
forbid agent/cli "agent/(api|hooks|unwinders|preload)/|writer/($(tr '|' '\n' <<<"$formats" | grep -vxE "jitdump|eventlog|oprofile" | paste -sd'|'))/"
# The loader is asked to open something in one place: where plugins are opened, with no lock of ours held. (The preload
# looks up libgcc, which it does not load.)
opening=$(grep -rlE '::dlm?open\(' agent --include='*.?pp' | grep -vxE 'agent/(base/plugin_library|preload/next)\.cpp' || true)
[ -z "$opening" ] || { echo "dlopen in $opening"; failed=1; }
forbid agent/intake/symfile 'agent/(api|drain|lanes|unwinders)/'
exit $failed
