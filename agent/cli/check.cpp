#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <string_view>

#include "agent/cli/file_bytes.hpp"
#include "agent/cli/file_kinds.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/words.hpp"
#include "writer/jitdump/check/check.hpp"

namespace jitquill::cli {
namespace {

std::uint64_t now_ns(clockid_t clock) {
  timespec now{};
  (void)clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Stamps count from the boot: a file from before it has none that could be compared with now.
std::optional<std::uint64_t> latest_stamp(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const auto written_ns = static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000;
  const std::uint64_t boot_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
  if (written_ns <= boot_ns) return std::nullopt;
  return now_ns(CLOCK_MONOTONIC);
}

void print(const std::string& file, const jitdump::Finding& finding) {
  const RuleText& rule = jitdump::text_of(finding.rule);
  std::printf("%s: offset 0x%" PRIx64 ": %s%s: %s (%s: %s)\n", file.c_str(), finding.offset,
              rule.is_note() ? "note: " : "", rule.name, plain(finding.reason).c_str(), rule.reader,
              rule.consequence);
}

void print(const std::string& file, const jitdump::CheckResult& result, std::uint64_t limit) {
  const auto& findings = result.findings;
  std::uint64_t shown = 0;
  for (const jitdump::Finding& finding : findings.kept()) {
    if (limit != 0 && shown == limit) break;
    print(file, finding);
    ++shown;
  }
  const std::uint64_t all = findings.wrong() + findings.notes();
  if (all > shown) std::printf("%s: %" PRIu64 " more; --limit 0 shows them\n", file.c_str(), all - shown);
  std::printf("%s: %s, %" PRIu64 " wrong, %s%s%s\n", file.c_str(),
              counted(result.functions, "function").c_str(), findings.wrong(),
              counted(findings.notes(), "note").c_str(), result.is_torn ? ", its last record is cut off" : "",
              result.is_closed ? ", closed" : "");
}

int check_file(const std::string& path, const CheckArguments& arguments) {
  const FileBytes file(path);
  const std::string shown = plain(path);
  if (const std::string trouble = file.trouble(); !trouble.empty()) {
    say(shown + ": " + trouble);
    return kUnreadable;
  }
  if (const FileKind* const kind = kind_of(file.view()))
    return kind->check(shown, file.view(), arguments.limit);
  jitdump::Expected expected;
  expected.pid = jitdump::pid_of_dump(std::string_view(path).substr(path.find_last_of('/') + 1));
  expected.latest_ns = latest_stamp(path);
  expected.was_killed = arguments.was_killed;
  jitdump::CheckResult result = jitdump::check(file.view(), expected);
  if (!result.is_jitdump && !expected.pid) {
    say(shown + ": " + words_of_other(file.view(), "nothing else can be checked yet"));
    return kUnreadable;
  }
  if (!expected.pid) result.findings.add(0, jitdump::Rule::kFileName, "is not jit-<pid>.dump");
  print(shown, result, arguments.limit);
  return result.findings.wrong() != 0 ? kViolations : 0;
}

}  // namespace

int do_verb(const CheckArguments& arguments) {
  int worst = 0;
  for (const std::string& file : arguments.files) worst = std::max(worst, check_file(file, arguments));
  return worst;
}

}  // namespace jitquill::cli
