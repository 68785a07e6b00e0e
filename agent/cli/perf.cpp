// jitquill perf: record, inject, report.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "agent/cli/executable.hpp"
#include "agent/cli/file_bytes.hpp"
#include "agent/cli/preload.hpp"
#include "agent/cli/private_folder.hpp"
#include "agent/cli/quiet_process.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/watched_run.hpp"
#include "agent/cli/words.hpp"
#include "agent/life/output_place.hpp"

namespace jitquill::cli {
namespace {

using Words = std::vector<std::string>;

// perf with words of its own in front of `words`. Its cache of files in the home would keep each function's.
Words perf_with(const std::string& cache, const Words& words) {
  Words all = {"perf", "--buildid-dir", cache};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

// The commands of one recording; its files lie in a folder of their own beside the processes'.
class Recording {
 public:
  explicit Recording(std::string folder) : folder_(std::move(folder)) {}

  Words record(const Words& of_record, const Words& host) const {
    Words words = {"record", "-q", "-k", "mono", "-o", file("perf.data")};
    static const Words kUsual = {"--call-graph", "dwarf,8192"};
    const Words& chosen = of_record.empty() ? kUsual : of_record;
    words.insert(words.end(), chosen.begin(), chosen.end());
    words.emplace_back("--");
    words.insert(words.end(), host.begin(), host.end());
    return perf(words);
  }
  Words inject() const {
    return perf({"inject", "--jit", "-i", file("perf.data"), "-o", file("perf.jit.data")});
  }
  Words report() const { return perf({"report", "-i", file("perf.jit.data"), "--no-inline"}); }
  // The functions, one a line.
  Words short_report() const {
    Words words = report();
    words.insert(words.end(), {"--stdio", "--no-children", "-g", "none", "--percent-limit", "0.5"});
    return words;
  }
  std::string file(const char* name) const { return folder_ + "/" + name; }

 private:
  Words perf(const Words& words) const { return perf_with(file("buildid"), words); }

  std::string folder_;
};

std::string paranoid_level() {
  const FileBytes file("/proc/sys/kernel/perf_event_paranoid");
  std::string level(file.view().begin(), file.view().end());
  while (level.ends_with('\n')) level.pop_back();
  return level.empty() ? "unknown" : level;
}

// What keeps perf from recording, said with the cure; false if nothing does.
bool is_perf_in_trouble(const Words& of_record) {
  if (find_executable("perf").empty()) {
    say("perf is not installed: apt-get install linux-perf");
    return true;
  }
  const PrivateFolder folder;
  if (!folder.is_there()) return true;
  const QuietEnd trial = run_quietly(Recording(folder.file("")).record(of_record, {"true"}));
  if (trial.exit_code == 0) return false;
  (void)std::fwrite(trial.said.data(), 1, trial.said.size(), stderr);
  say("perf may not record so, and the program was not run. kernel.perf_event_paranoid is " +
      paranoid_level() +
      ". Cure: run as root, or: sudo sysctl kernel.perf_event_paranoid=1 (in a container: --cap-add "
      "PERFMON); "
      "or other --perf-args. Without perf: jitquill run");
  return true;
}

// False, and said, if there is nothing to report of.
bool inject(const Recording& recording) {
  const QuietEnd end = run_quietly(recording.inject());
  if (end.exit_code == 0) return true;
  (void)std::fwrite(end.said.data(), 1, end.said.size(), stderr);
  say("perf inject failed; the recording is " + recording.file("perf.data"));
  return false;
}

// As errno: perf's own words for it would be about perf.
int trouble_with_start(const std::string& command) {
  const std::string program = find_executable(command);
  if (program.empty()) return ENOENT;
  return ::access(program.c_str(), X_OK) == 0 ? 0 : errno;
}

// A folder of this process among the hosts'; empty, and said, if there is none.
std::string own_folder(const AgentOptions& options) {
  const auto place = std::make_unique<OutputPlace>();
  place->note_start();
  if (place->open(options.read.dir.view(), static_cast<std::uint32_t>(::getpid())) == 0) return place->path();
  say("no folder for the recording at dir=" + std::string(options.read.dir.view()) + ": " +
      place->trouble_with_dir());
  return {};
}

}  // namespace

int do_verb(const PerfArguments& arguments) {
  const auto options = agent_options(arguments.run.options);
  if (!options) return kUsage;
  const Words& host = arguments.run.command;
  if (const int error = trouble_with_start(host.front()); error != 0)
    return say_not_started(host.front(), error);
  const std::string library = preload_library();
  if (library.empty() || is_perf_in_trouble(arguments.perf_arguments)) return kOwnTrouble;
  const std::string folder = own_folder(*options);
  if (folder.empty()) return kOwnTrouble;
  const Recording recording(folder);
  Summary summary = run_watched(recording.record(arguments.perf_arguments, host), host, *options, library);
  if (summary.end.exec_error != 0) return say_not_started("perf", summary.end.exec_error);
  HostEnd end = end_of(summary, *options);
  bool is_good = inject(recording);
  if (is_good && arguments.reports) is_good = run_host({recording.short_report(), {}}).exit_code == 0;
  if (is_good) summary.next.push_back(shell_words(recording.report()));
  is_good = publish(summary, arguments.run) && is_good;
  if (!is_good && end.signal == 0 && end.exit_code == 0) end.exit_code = kOwnTrouble;
  end_as(end);
}

}  // namespace jitquill::cli
