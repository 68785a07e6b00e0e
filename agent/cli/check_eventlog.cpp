#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "agent/cli/eventlog.hpp"
#include "agent/cli/words.hpp"
#include "writer/eventlog/check.hpp"
#include "writer/eventlog/event_table.hpp"

namespace jitquill::cli {
namespace {

std::string name_of(std::uint16_t number) {
  const auto rows = eventlog::event_rows();
  const auto row = std::ranges::find_if(
      rows, [&](const eventlog::EventRow& r) { return eventlog::number_of(r.event) == number; });
  return row == rows.end() ? "" : " " + std::string(row->name);
}

}  // namespace

int check_eventlog(const std::string& shown, std::span<const std::uint8_t> bytes, std::uint64_t limit) {
  eventlog::LogCheck result;
  eventlog::check(bytes, result);
  std::uint64_t printed = 0;
  for (const eventlog::LogFinding& finding : result.findings.all()) {
    if (limit != 0 && printed == limit) break;
    const RuleText& rule = eventlog::text_of(finding.rule);
    std::printf("%s: offset 0x%" PRIx64 ": %s%s:%s (%s)\n", shown.c_str(), finding.offset,
                rule.is_note() ? "note: " : "", rule.name, name_of(finding.number).c_str(), rule.consequence);
    ++printed;
  }
  const std::uint64_t all = result.wrong + result.notes;
  if (all > printed)
    std::printf("%s: %" PRIu64 " more; --limit 0 shows the first %zu\n", shown.c_str(), all - printed,
                eventlog::LogCheck::kMostKept);
  std::printf("%s: %s, %" PRIu64 " wrong, %s\n", shown.c_str(), counted(result.records, "record").c_str(),
              result.wrong, counted(result.notes, "note").c_str());
  return result.wrong != 0 ? kViolations : 0;
}

}  // namespace jitquill::cli
