#include "tests/tools/perf/perf_run.hpp"

#include <algorithm>
#include <cstdlib>
#include <regex>
#include <sstream>

namespace perf_run {
namespace {

using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

constexpr int kSeconds = 120;

// --buildid-dir is an option of perf itself; without it inject copies every function's file to ~/.debug.
Ended perf(const TempFolder& folder, const std::vector<std::string>& words, Command command = {}) {
  command.words = {"perf", "--buildid-dir", folder.file("buildid")};
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.environment.insert(command.environment.end(),
                             {{"HOME", folder.path()}, {"DEBUGINFOD_URLS", ""}, {"LC_ALL", "C"}});
  command.folder = folder.path();
  return run(command, kSeconds);
}

std::uint64_t hex(const std::string& text) {
  return std::strtoull(text.c_str(), nullptr, 16);
}

// "host 123/123 4567.123456789: ..."; the name may have blanks in it. Gives what follows.
bool parse_header(const std::string& line, Sample& sample, std::string& rest) {
  static const std::regex kHeader(R"(^\s*\S.*\s(\d+)/\d+\s+(\d+)\.(\d{9}):(.*)$)");
  std::smatch match;
  if (line.empty() || line[0] == '\t' || !std::regex_match(line, match, kHeader)) return false;
  sample.pid = std::stoi(match[1]);
  sample.when_ns = std::stoull(match[2]) * 1'000'000'000 + std::stoull(match[3]);
  rest = match[4];
  return true;
}

// "\t 7f00 symbol+0x1 (object)"
bool parse_frame(const std::string& line, Frame& frame) {
  std::istringstream words(line);
  std::string ip;
  if (!(words >> ip) || ip.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  frame.ip = hex(ip);
  std::string rest;
  std::getline(words >> std::ws, rest);
  const std::size_t object = rest.rfind(" (");
  if (object == std::string::npos) return false;
  frame.symbol = rest.substr(0, object);
  frame.object = rest.substr(object + 2, rest.find_last_of(')') - object - 2);
  return true;
}

// With call chains a sample is a header, its frames and an empty line; without, a header with the frame
// behind it.
std::vector<Sample> parse_script(const std::string& text) {
  std::vector<Sample> samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    Sample sample;
    Frame frame;
    std::string rest;
    if (parse_header(line, sample, rest)) {
      if (parse_frame(rest, frame)) sample.frames.push_back(std::move(frame));
      samples.push_back(std::move(sample));
    } else if (!samples.empty() && parse_frame(line, frame)) {
      samples.back().frames.push_back(std::move(frame));
    } else if (!samples.empty() && !samples.back().frames.empty() && !line.empty()) {
      samples.back().frames.back().srcline = line.substr(line.find_first_not_of(" \t"));
    }
  }
  return samples;
}

// perf script shows addresses in memory only without call chains.
bool add_addresses(const std::vector<Sample>& plain, std::vector<Sample>& samples) {
  if (plain.size() != samples.size()) return false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (plain[i].when_ns != samples[i].when_ns || plain[i].frames.size() != 1) return false;
    samples[i].ip = plain[i].frames[0].ip;
  }
  return true;
}

void parse_host(const std::string& text, Recording& recording) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind;
    std::string first;
    std::string second;
    words >> kind >> first;
    if (kind == "stamps") {
      Range& range = recording.stamps[first];
      words >> range.start >> range.end;
    } else if (kind == "anonymous" && words >> second) {
      recording.anonymous.push_back({hex(first), hex(second)});
    } else if (kind == "line" && words >> second) {
      recording.lines.push_back({hex(first), hex(second)});
      words >> recording.lines.back().number;
    } else if (kind == "jitted" && first == "call:") {  // demo-jit --time
      Range& range = recording.stamps["jitted"];
      words >> range.start >> range.end;
    }
  }
}

// The agent is preloaded into perf, where it sleeps, and so into the host. Not by `perf record -- env ...
// host`: perf 6.1 keeps one load address of libc for all programs that a recorded process has been, and where
// env was sampled in libc first, the host's stacks end in libc functions.
Ended record_host(const TempFolder& folder, const Request& request) {
  std::vector<std::string> words = {"record", "-q",   "-e", "cpu-clock", "-F", request.frequency,
                                    "-k",     "mono", "-m", "2048",      "-o", "perf.data"};
  if (request.stacks) words.insert(words.end(), {"--call-graph", request.call_graph});
  words.push_back("--");
  words.insert(words.end(), request.host.begin(), request.host.end());
  Command command;
  command.environment = {{"LD_PRELOAD", JITQUILL_AGENT},
                         {"JITQUILL_OPTIONS", "dir=" + folder.file("out") + " " + request.agent_options}};
  return perf(folder, words, command);
}

Ended script(const TempFolder& folder, const std::string& recording, bool stacks, bool srclines) {
  std::string fields = "comm,pid,tid,time,ip,sym,dso";
  if (srclines) fields += ",srcline";
  std::vector<std::string> words = {"script", "-i", recording, "--ns", "--no-inline", "-F", fields};
  if (!stacks) words.push_back("--hide-call-graph");
  return perf(folder, words);
}

}  // namespace

bool Sample::reaches(const std::string& symbol) const {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const Frame& frame) { return frame.symbol == symbol; });
}

bool Sample::has_symbol_starting(const std::string& start) const {
  return std::any_of(frames.begin(), frames.end(),
                     [&](const Frame& frame) { return frame.symbol.starts_with(start); });
}

std::vector<Sample> Recording::between(const Range& range) const {
  std::vector<Sample> found;
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(found),
               [&](const Sample& sample) { return range.has(sample.when_ns); });
  return found;
}

std::string why_not(const TempFolder& folder) {
  const Ended ended =
      perf(folder, {"record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "try.data", "--", "true"});
  if (ended.succeeded()) return {};
  return "perf cannot record: " + ended.describe() +
         "perf_event_paranoid: " + test_support::read_text("/proc/sys/kernel/perf_event_paranoid");
}

Recording record(const TempFolder& folder, const Request& request) {
  Recording recording;
  const Ended recorded = record_host(folder, request);
  recording.host_out = recorded.out;
  recording.host_err = recorded.err;
  if (!recorded.succeeded()) {
    recording.error = "perf record: " + recorded.describe();
    return recording;
  }
  parse_host(recorded.out + recorded.err, recording);
  std::string file = "perf.data";
  if (request.injects) {
    const Ended injected = inject(folder, file, "perf.jit.data");
    if (!injected.succeeded()) recording.error = "perf inject: " + injected.describe();
    file = "perf.jit.data";
  }
  const Ended shown = script(folder, file, request.stacks, request.srclines);
  const Ended plain = script(folder, file, false, false);
  if (!shown.succeeded() || !plain.succeeded()) recording.error += "perf script: " + shown.err + plain.err;
  recording.samples = parse_script(shown.out);
  if (!add_addresses(parse_script(plain.out), recording.samples))
    recording.error += "perf script disagrees with itself";
  return recording;
}

Ended inject(const TempFolder& folder, const std::string& recording, const std::string& injected) {
  return perf(folder, {"inject", "--jit", "-i", recording, "-o", injected});
}

}  // namespace perf_run
