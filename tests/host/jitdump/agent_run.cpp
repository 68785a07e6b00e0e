#include "tests/host/jitdump/agent_run.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "tests/host/jitdump/kill_progress.hpp"
#include "tests/host/jitdump/pattern.hpp"

using jitdump_reader::Dump;
using jitdump_reader::Expectations;
using jitdump_reader::Function;

namespace {

std::uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Code that was announced before is salted by eight more bytes: perf from 6.17 on tells functions apart by
// their bytes.
bool has_pattern_code(const Function& function, std::uint32_t i) {
  constexpr std::size_t kSaltSize = 8;
  const std::size_t size = pattern::code_size(i);
  if (function.code.size() != size && function.code.size() != size + kSaltSize) return false;
  for (std::size_t at = 0; at < size; ++at) {
    if (function.code[at] != pattern::code_byte(i, at)) return false;
  }
  return true;
}

bool has_pattern_lines(const Function& function, std::uint32_t i) {
  const std::size_t count = pattern::line_count(i);
  if (function.lines.size() != count + 1) return false;
  for (std::size_t row = 0; row < count; ++row) {
    const jitdump_reader::Line& line = function.lines[row];
    if (line.address != function.address + 4 * row || line.line != pattern::line_number(i, row)) return false;
    if (line.column != row + 1 || line.file != pattern::line_file(i, row)) return false;
  }
  return true;
}

// Behind the prologue all is saved and allocated; in front of it nothing is.
bool has_pattern_frame(const Function& function, std::uint32_t i) {
  if (!function.unwinding || (function.unwinding->mapped == 0 && !function.twin)) return false;
  const auto* row = row_at(*function.unwinding, function.code.size() - 1);
  if (row == nullptr || row->cfa_register != jitdump_reader::kRsp) return false;
  if (row->cfa_offset != pattern::frame_size(i)) return false;
  for (std::size_t n = 0; n < pattern::kSaved.size(); ++n) {
    const auto& rule = row->registers[pattern::kSaved[n]];
    const bool saved = rule.kind == jitdump_reader::RegisterRule::Kind::kAt;
    if (saved != (n < pattern::saved_count(i))) return false;
    if (saved && rule.value != -16 - 8 * static_cast<std::int64_t>(n)) return false;
  }
  return true;
}

test_support::Command with_library(const char* library, const test_support::TempFolder& folder,
                                   const std::string& host, const std::vector<std::string>& arguments,
                                   const std::string& options) {
  test_support::Command command;
  command.words = {host};
  command.words.insert(command.words.end(), arguments.begin(), arguments.end());
  command.environment = {{"LD_PRELOAD", library},
                         {"JITQUILL_OPTIONS", "dir=" + folder.file("out") + " " + options},
                         // The preloaded agent comes in front of a sanitizer's library, as it would of any.
                         {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
  command.folder = folder.path();
  return command;
}

}  // namespace

test_support::Command with_agent(const test_support::TempFolder& folder, const std::string& host,
                                 const std::vector<std::string>& arguments, const std::string& options) {
  return with_library(JITQUILL_AGENT, folder, host, arguments, options);
}

test_support::Command with_preload(const test_support::TempFolder& folder, const std::string& host,
                                   const std::vector<std::string>& arguments, const std::string& options) {
  return with_library(JITQUILL_PRELOAD, folder, host, arguments, options);
}

Killed kill_at(const test_support::TempFolder& folder, const std::string& host, std::uint32_t functions,
               std::uint32_t target, const std::string& options) {
  const std::string shared = folder.file("progress");
  KillProgress* progress = map_kill_progress(shared.c_str());
  if (progress == nullptr) return {};
  test_support::Child child(with_agent(folder, host, {shared, std::to_string(functions)}, options));
  const time_t deadline = time(nullptr) + 60;
  while (progress->returned.load() < target && time(nullptr) < deadline) sched_yield();
  child.signal(SIGKILL);
  const test_support::Ended ended = child.wait(10);
  EXPECT_EQ(ended.signal, SIGKILL) << ended.describe();
  const Killed killed = {child.pid(), progress->returned.load()};
  munmap(progress, sizeof *progress);
  return killed;
}

std::vector<std::string> dump_files(const test_support::TempFolder& folder) {
  return test_support::files_below(folder.path(), "jit-", ".dump");
}

Dump judged(const std::string& file, Expectations expectations) {
  expectations.latest_ns = now_ns();
  Dump dump = jitdump_reader::read_file(file, expectations);
  EXPECT_EQ(jitdump_reader::describe(dump.violations), "") << file;
  return dump;
}

Dump only_dump(const test_support::TempFolder& folder, Expectations expectations) {
  const auto files = dump_files(folder);
  EXPECT_EQ(files.size(), 1u);
  return files.empty() ? Dump{} : judged(files.front(), expectations);
}

std::string differences(const Function& function, std::uint32_t i) {
  std::string text;
  if (function.name != "fn_" + std::to_string(i)) text += " name " + function.name;
  if (!has_pattern_code(function, i)) text += " code";
  if (!has_pattern_lines(function, i)) text += " lines";
  if (!has_pattern_frame(function, i)) text += " frame";
  return text.empty() ? text : "function " + std::to_string(i) + ":" + text;
}

std::uint32_t number_of(const Function& function) {
  char* end = nullptr;
  if (!function.name.starts_with("fn_")) {
    ADD_FAILURE() << function.name;
    return 0;
  }
  const unsigned long number = std::strtoul(function.name.c_str() + std::strlen("fn_"), &end, 10);
  EXPECT_EQ(*end, '\0') << function.name;
  return static_cast<std::uint32_t>(number);
}

unsigned times(unsigned usually, unsigned when_long) {
  const char* asked = std::getenv("JITQUILL_LONG");
  return asked != nullptr && std::strcmp(asked, "1") == 0 ? when_long : usually;
}
