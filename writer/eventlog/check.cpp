#include "writer/eventlog/check.hpp"

#include <algorithm>

#include "writer/bytes/utf8.hpp"
#include "writer/eventlog/event_table.hpp"
#include "writer/eventlog/log_walk.hpp"

namespace jitquill::eventlog {
namespace {

constexpr RuleText kTexts[] = {
#define LOG_RULE(id, name, weight, readers) {name, RuleWeight::weight, "", readers},
#include "writer/eventlog/log_rule.def"
#undef LOG_RULE
};

// At which ThreadScope ends where they are outside.
constexpr Event kOfCapability[] = {Event::kCreateThread, Event::kRunThread,     Event::kStopThread,
                                   Event::kGcStart,      Event::kGcEnd,         Event::kSparkCounters,
                                   Event::kGcStatsGhc,   Event::kHeapAllocated, Event::kGcGlobalSync};

constexpr std::uint16_t kNoEvent = 0xFFFF;

void note(LogCheck& check, std::uint64_t offset, LogRule rule, std::uint16_t number) noexcept {
  ++(text_of(rule).is_note() ? check.notes : check.wrong);
  if (check.findings.size() < LogCheck::kMostKept) (void)check.findings.push({offset, rule, number});
}

std::string_view text_of(std::span<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void check_record(const RecordView& record, LogCheck& check) noexcept {
  const EventRow* const row = row_of(record.number, record.declared_size, record.payload);
  const bool is_known = std::ranges::any_of(
      event_rows(), [&](const EventRow& r) { return number_of(r.event) == record.number; });
  if (row == nullptr) {
    if (is_known) note(check, record.offset, LogRule::kLayout, record.number);
    return;
  }
  Bytes words;
  if (!put_fields_text(*row, record.payload, words))
    note(check, record.offset, LogRule::kLayout, record.number);
  else if (!has_utf8_texts(*row, record.payload))
    note(check, record.offset, LogRule::kUtf8, record.number);
  if (row->event == Event::kUserBinaryMsg && !is_utf8(text_of(record.payload)))
    note(check, record.offset, LogRule::kBinary, record.number);
  const bool is_of_capability = std::ranges::find(kOfCapability, row->event) != std::end(kOfCapability);
  if (is_of_capability && record.capability == kNoCapability)
    note(check, record.offset, LogRule::kPlace, record.number);
}

void check_end(const LogWalk& walk, std::uint64_t size, LogCheck& check) noexcept {
  switch (walk.end()) {
    case LogWalk::End::kNoLog:
    case LogWalk::End::kBadHeader:
    case LogWalk::End::kNoMemory:
      return note(check, walk.offset(), LogRule::kHeader, kNoEvent);
    case LogWalk::End::kUndeclared:
      return note(check, walk.offset(), LogRule::kUndeclared, kNoEvent);
    case LogWalk::End::kTorn:
      return note(check, walk.offset(), LogRule::kTorn, kNoEvent);
    case LogWalk::End::kNoMarker:
      return note(check, walk.offset(), LogRule::kNoEnd, kNoEvent);
    case LogWalk::End::kMarker:
      if (walk.offset() + 2 != size) note(check, walk.offset(), LogRule::kBlock, kNoEvent);
      return;
    case LogWalk::End::kNone:
      return;
  }
}

}  // namespace

const RuleText& text_of(LogRule rule) noexcept {
  return kTexts[static_cast<std::size_t>(rule)];
}

void check(std::span<const std::uint8_t> bytes, LogCheck& check) noexcept {
  LogWalk walk(bytes);
  check.is_log = walk.end() != LogWalk::End::kNoLog;
  std::uint64_t block_end = 0, last_ns = 0;
  while (const auto record = walk.next()) {
    ++check.records;
    const bool is_marker = record->number == number_of(Event::kBlockMarker);
    const bool was_inside = block_end != 0 && block_end != LogWalk::kOpen;
    if (was_inside && walk.offset() > block_end && record->offset < block_end)
      note(check, record->offset, LogRule::kBlock, record->number);
    if (was_inside && is_marker && record->offset < block_end)
      note(check, record->offset, LogRule::kBlock, record->number);
    if (!is_marker && block_end != 0 && record->when_ns < last_ns)
      note(check, record->offset, LogRule::kBackward, record->number);
    last_ns = is_marker ? 0 : record->when_ns;
    block_end = walk.block_end();
    check_record(*record, check);
  }
  check_end(walk, bytes.size(), check);
}

}  // namespace jitquill::eventlog
