#include "agent/cli/watched_run.hpp"

#include <cerrno>
#include <ctime>

#include "agent/cli/executable.hpp"
#include "agent/cli/preload.hpp"
#include "agent/cli/recovery.hpp"
#include "agent/cli/run_list.hpp"
#include "agent/cli/words.hpp"

namespace jitquill::cli {

Summary run_watched(const std::vector<std::string>& words, const std::vector<std::string>& program,
                    const AgentOptions& options, const std::string& library) {
  Summary summary;
  summary.command = program;
  const RunList list;  // without one the host runs all the same
  const std::int64_t since_s = std::time(nullptr);
  summary.end = run_host({words, agent_environment(library, options.text, list.path())});
  if (summary.end.exec_error != 0) return summary;
  const std::vector<std::string> folders = list.folders();
  for (const ProcessOutput& process : read_outputs(folders, since_s)) {
    if (process.state != ProcessState::kKilled) continue;
    for (const std::string& folder : process.folders) {
      const auto recovery = recover(folder);
      if (recovery && *recovery != drain::Recovery::kDone && *recovery != drain::Recovery::kNothingToDo)
        say(folder + ": " + drain::text(*recovery));
    }
  }
  summary.processes = read_outputs(folders, since_s);
  if (!list.is_there()) summary.missing.emplace_back("this summary: no file for it could be made");
  say_what_is_missing(summary, options, find_executable(program.front()));
  return summary;
}

int say_not_started(const std::string& program, int error) {
  say("cannot run " + program + ": " + error_text(error));
  return error == ENOENT ? kNotFound : kNotExecutable;
}

HostEnd end_of(const Summary& summary, const AgentOptions& options) {
  HostEnd end = summary.end;
  const bool was_asked_for = options.read.formats != 0;
  if (end.signal == 0 && end.exit_code == 0 && was_asked_for && !summary.has_recorded())
    end.exit_code = kNothingRecorded;
  return end;
}

}  // namespace jitquill::cli
