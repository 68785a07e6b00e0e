#include "agent/cli/eventlog.hpp"

#include <cinttypes>
#include <cstdio>

#include "agent/cli/words.hpp"
#include "writer/eventlog/event_table.hpp"
#include "writer/eventlog/log_walk.hpp"

namespace jitquill::cli {
namespace {

using eventlog::LogWalk;
using eventlog::RecordView;

std::string text_of(const Bytes& words) {
  return {words.view().begin(), words.view().end()};
}

// Of an event that nobody knows what its own header says of it.
void show_record(const RecordView& record) {
  const eventlog::EventRow* const row = eventlog::row_of(record.number, record.declared_size, record.payload);
  std::printf("0x%08" PRIx64 " %10" PRIu64 ".%09" PRIu64 " ", record.offset, record.when_ns / 1'000'000'000,
              record.when_ns % 1'000'000'000);
  if (record.capability == eventlog::kNoCapability)
    std::printf("      - ");
  else
    std::printf("cap %3u ", record.capability);
  if (row == nullptr) {
    std::printf("event %u (%s), %s\n", record.number, plain(record.description).c_str(),
                counted(record.payload.size(), "byte").c_str());
    return;
  }
  Bytes words;
  (void)eventlog::put_fields_text(*row, record.payload, words);
  std::printf("%s%s%s\n", plain(row->name).c_str(), words.size() == 0 ? "" : " ",
              plain(text_of(words)).c_str());
}

const char* words_of(LogWalk::End end) {
  switch (end) {
    case LogWalk::End::kMarker:
      return "end of data";
    case LogWalk::End::kTorn:
      return "the file ends inside of a record here: its process was killed while it wrote, or writes still";
    case LogWalk::End::kNoMarker:
      return "the file ends here, and says not that it is whole: jitquill recover completes it";
    case LogWalk::End::kUndeclared:
      return "an event that the header does not declare: nothing can be read behind it";
    default:
      return "the header cannot be read";
  }
}

}  // namespace

bool is_eventlog(std::span<const std::uint8_t> bytes) {
  return LogWalk(bytes).end() != LogWalk::End::kNoLog;
}

void show_eventlog(std::span<const std::uint8_t> bytes, std::uint64_t limit) {
  LogWalk walk(bytes);
  std::printf("eventlog, %s of events declared\n", counted(walk.types(), "type").c_str());
  std::uint64_t shown = 0;
  while (const auto record = walk.next()) {
    if (limit != 0 && shown++ == limit) return;
    show_record(*record);
  }
  std::printf("0x%08" PRIx64 " %s\n", walk.offset(), words_of(walk.end()));
}

}  // namespace jitquill::cli
