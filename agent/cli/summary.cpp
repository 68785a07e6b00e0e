#include "agent/cli/summary.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <iterator>
#include <numeric>
#include <string_view>

#include "agent/cli/executable.hpp"
#include "agent/cli/json.hpp"
#include "agent/cli/words.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::cli {
namespace {

constexpr std::size_t kMostProcesses = 20;  // in the text

const char* words_of(ProcessState state) {
  switch (state) {
    case ProcessState::kRunning:
      return "still running";
    case ProcessState::kKilled:
      return "killed, or ended without a word";
    default:
      return "ended";
  }
}

std::string text_of(const ProcessOutput& process) {
  std::string text = "  " + plain(process.name) + ": " + counted(process.functions, "function");
  if (process.calls != 0) text.append(", ").append(counted(process.calls, "call"));
  if (process.events != 0) text.append(", ").append(counted(process.events, "event"));
  if (process.samples != 0) text.append(", ").append(counted(process.samples, "sample"));
  if (process.state != ProcessState::kEnded) text.append(", ").append(words_of(process.state));
  if (process.is_torn) text += ", its last record was cut off";
  text += "\n";
  for (const StatisticsRow& row : process.losses())
    text +=
        "    lost: " + std::to_string(row.value) + " " + plain(row.name) + " (" + plain(row.meaning) + ")\n";
  for (const OutputFile& file : process.files)
    text += "    " + file.what + ", " + size_text(file.size) + ": " + plain(file.command) + "\n";
  return text;
}

void put(Json& json, const ProcessOutput& process) {
  json.begin_object().key("name").text(process.name);
  json.key("pid").number(std::int64_t{process.pid}).key("state").text(words_of(process.state));
  json.key("functions")
      .number(process.functions)
      .key("calls")
      .number(process.calls)
      .key("events")
      .number(process.events)
      .key("samples")
      .number(process.samples)
      .key("folders")
      .begin_array();
  for (const std::string& folder : process.folders) json.text(folder);
  json.end_array().key("files").begin_array();
  for (const OutputFile& file : process.files) {
    json.begin_object().key("path").text(file.path).key("what").text(file.what);
    json.key("bytes").number(file.size).key("command").text(file.command).end_object();
  }
  json.end_array().key("statistics").begin_object();
  for (const StatisticsRow& row : process.statistics) json.key(row.name).number(row.value);
  json.end_object().key("losses").begin_object();
  for (const StatisticsRow& row : process.losses()) json.key(row.name).number(row.value);
  json.end_object().end_object();
}

void put(Json& json, std::string_view name, const std::vector<std::string>& texts) {
  json.key(name).begin_array();
  for (const std::string& text : texts) json.text(text);
  json.end_array();
}

bool write_file(const std::string& path, const std::string& text) {
  std::FILE* const file = path == "-" ? stdout : std::fopen(path.c_str(), "we");
  bool is_good = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file != nullptr) is_good = (file == stdout ? std::fflush(file) : std::fclose(file)) == 0 && is_good;
  if (!is_good) say("the summary cannot be written to " + path + ": " + error_text(errno));
  return is_good;
}

std::uint64_t sum_of(const std::vector<ProcessOutput>& processes, std::uint64_t ProcessOutput::*figure) {
  return std::accumulate(processes.begin(), processes.end(), std::uint64_t{0},
                         [figure](std::uint64_t sum, const ProcessOutput& one) { return sum + one.*figure; });
}

// Run news is counted by its process alone.
bool has_unsaid_output(const Summary& summary) {
  return std::ranges::any_of(summary.processes, [](const ProcessOutput& process) {
    return process.state == ProcessState::kKilled &&
           std::ranges::any_of(process.files, [](const OutputFile& file) { return file.size != 0; });
  });
}

struct Need {
  std::string_view option;
  const char* words;
};
constexpr Need kNeeds[] = {
    {"sample", " shows samples, which were not asked for: sample=999 takes as many a second"},
    {"hooks", " shows calls, which were not asked for: hooks='*' records all functions"},
};

constexpr std::string_view kNeededBySinks[] = {
#define SINK(name, at_once, help)
#define RUN_SINK(name, file, events, needs, help) needs,
#define LATER_SINK(name)
#include "writer/sink/sinks.def"
#undef SINK
#undef RUN_SINK
#undef LATER_SINK
};

// Whether each word has a row.
constexpr bool are_needs(std::string_view words) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (std::ranges::find(kNeeds, word, &Need::option) == std::end(kNeeds)) return false;
    words.remove_prefix(std::min(words.size(), word.size() + 1));
  }
  return true;
}
static_assert(std::ranges::all_of(kNeededBySinks, are_needs));

// Of the first that would do; null: one of them was named, or none is needed.
const char* words_of_need(const SinkRow& row, const std::string& options) {
  const char* words = nullptr;
  for (const Need& need : kNeeds) {
    if (std::string_view(row.needs).find(need.option) == std::string_view::npos) continue;
    if (names_option(options, need.option)) return nullptr;
    if (words == nullptr) words = need.words;
  }
  return words;
}

// Whether all have ended by themselves, and had none of the calls that they were asked for.
bool lacks_calls(const Summary& summary, const AgentOptions& options) {
  bool wants_calls = false;
  for (std::size_t i = 0; i < sink_rows().size(); ++i)
    wants_calls |= (options.read.formats >> i & 1) != 0 && std::string_view(sink_rows()[i].needs) == "hooks";
  return wants_calls && names_option(options.text, "hooks") && !summary.processes.empty() &&
         summary.calls() == 0 && std::ranges::all_of(summary.processes, [](const ProcessOutput& process) {
           return process.state == ProcessState::kEnded;
         });
}

}  // namespace

std::uint64_t Summary::functions() const {
  return sum_of(processes, &ProcessOutput::functions);
}

std::uint64_t Summary::calls() const {
  return sum_of(processes, &ProcessOutput::calls);
}

std::uint64_t Summary::samples() const {
  return sum_of(processes, &ProcessOutput::samples);
}

std::uint64_t Summary::events() const {
  return sum_of(processes, &ProcessOutput::events);
}

std::uint64_t Summary::bytes() const {
  std::uint64_t sum = 0;
  for (const ProcessOutput& process : processes) {
    for (const OutputFile& file : process.files) sum += file.size;
  }
  return sum;
}

void say_what_is_missing(Summary& summary, const AgentOptions& options, const std::string& program) {
  if (options.read.formats == 0) {
    summary.missing.emplace_back("formats=none: nothing was to be recorded");
    return;
  }
  for (std::size_t i = 0; i < sink_rows().size(); ++i) {
    const SinkRow& row = sink_rows()[i];
    const bool is_wanted = (options.read.formats >> i & 1) != 0;
    if (const char* const words = is_wanted ? words_of_need(row, options.text) : nullptr)
      summary.missing.push_back("formats=" + std::string(row.name) + words);
  }
  if (lacks_calls(summary, options))
    summary.missing.emplace_back(
        "no call was traced: hooks= named no function that ran and can be traced, which are those with "
        "sites, of interpreters that tell of calls, and those compiled for it (docs/native-functions.md)");
  if (summary.has_recorded()) return;
  if (const std::string trouble = trouble_with_preload(program); !trouble.empty()) {
    summary.missing.push_back("nothing could come in: " + trouble);
  } else if (summary.processes.empty()) {
    summary.missing.emplace_back(
        "no JIT told of code: none ran, or none that is known here (intakes= has the list; a runtime of your "
        "own calls jitquill_code_loaded()), or the program writes a jitdump by itself (own_dump=take has its "
        "code here, too)");
  } else if (has_unsaid_output(summary)) {
    summary.missing.emplace_back(
        "a process left no statistics (killed, or its disk is full): what its files have was not counted");
  } else {
    summary.missing.emplace_back(
        "outputs were opened, but no function is in them: see the losses above, and the log");
  }
}

std::string text_of(const Summary& summary) {
  std::string text = "jitquill: " + counted(summary.processes.size(), "process") + ", " +
                     counted(summary.functions(), "function") + ", " + size_text(summary.bytes()) + "\n";
  const std::size_t shown = std::min(summary.processes.size(), kMostProcesses);
  for (std::size_t i = 0; i < shown; ++i) text += text_of(summary.processes[i]);
  if (shown < summary.processes.size())
    text += "  and " + std::to_string(summary.processes.size() - shown) + " more; --json has them all\n";
  for (const std::string& line : summary.missing) text += "  missing: " + plain(line) + "\n";
  for (const std::string& line : summary.next) text += "  next: " + plain(line) + "\n";
  return text;
}

std::string json_of(const Summary& summary) {
  Json json;
  json.begin_object();
  put(json, "command", summary.command);
  json.key("exit_code");
  summary.end.signal == 0 ? json.number(std::int64_t{summary.end.exit_code}) : json.null();
  json.key("signal");
  summary.end.signal != 0 ? json.number(std::int64_t{summary.end.signal}) : json.null();
  json.key("functions")
      .number(summary.functions())
      .key("calls")
      .number(summary.calls())
      .key("events")
      .number(summary.events())
      .key("samples")
      .number(summary.samples())
      .key("bytes")
      .number(summary.bytes());
  json.key("processes").begin_array();
  for (const ProcessOutput& process : summary.processes) put(json, process);
  json.end_array();
  put(json, "missing", summary.missing);
  put(json, "next", summary.next);
  json.end_object();
  return json.view() + "\n";
}

bool publish(const Summary& summary, const RunArguments& arguments) {
  const bool is_json_on_stderr = arguments.json && arguments.json->empty();
  if (arguments.json && !is_json_on_stderr && !write_file(*arguments.json, json_of(summary))) return false;
  const std::string text = is_json_on_stderr ? json_of(summary) : text_of(summary);
  const bool is_wanted = is_json_on_stderr || !arguments.is_quiet;
  if (is_wanted) (void)std::fwrite(text.data(), 1, text.size(), stderr);
  return true;
}

}  // namespace jitquill::cli
