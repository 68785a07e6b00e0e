#include "agent/cli/preload.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/watched_run.hpp"
#include "agent/cli/words.hpp"

namespace jitquill::cli {

int do_verb(const RunArguments& arguments) {
  const auto options = agent_options(arguments.options);
  if (!options) return kUsage;
  const std::string library = preload_library();
  if (library.empty()) return kOwnTrouble;
  const Summary summary = run_watched(arguments.command, arguments.command, *options, library);
  if (summary.end.exec_error != 0) return say_not_started(arguments.command.front(), summary.end.exec_error);
  HostEnd end = end_of(summary, *options);
  if (!publish(summary, arguments) && end.signal == 0 && end.exit_code == 0) end.exit_code = kOwnTrouble;
  end_as(end);
}

}  // namespace jitquill::cli
