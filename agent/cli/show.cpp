#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "agent/cli/file_bytes.hpp"
#include "agent/cli/file_kinds.hpp"
#include "agent/cli/process_output.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/words.hpp"
#include "writer/jitdump/check/record_walk.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::cli {
namespace {

using jitdump::RecordId;
using jitdump::RecordView;
using jitdump::RecordWalk;

void show_load(const RecordView& record) {
  const jitdump::LoadView load = jitdump::load_view(record);
  std::printf("load   #%" PRIu64 " 0x%" PRIx64 " %s thread %u  %s\n", load.index, load.address,
              counted(load.code_size, "byte").c_str(), load.tid, plain(load.name).c_str());
}

void show_move(const RecordView& record) {
  const jitdump::MoveView move = jitdump::move_view(record);
  std::printf("move   #%" PRIu64 " 0x%" PRIx64 " to 0x%" PRIx64 " %s\n", move.index, move.from, move.to,
              counted(move.size, "byte").c_str());
}

// The first row stands for all.
void show_lines(const RecordView& record) {
  jitdump::ByteReader body = record.reader();
  const std::uint64_t address = body.u64();
  const std::uint64_t count = body.u64();
  (void)body.u64();
  const std::uint32_t line = body.u32();
  (void)body.u32();
  std::printf("lines  0x%" PRIx64 " %s from %s:%u\n", address, counted(count, "row").c_str(),
              plain(body.text()).c_str(), line);
}

void show_tables(const RecordView& record) {
  jitdump::ByteReader body = record.reader();
  const std::uint64_t size = body.u64();
  const std::uint64_t hdr_size = body.u64();
  const std::uint64_t mapped = body.u64();
  std::printf("unwind %s, %" PRIu64 " of them header, %" PRIu64 " mapped\n", counted(size, "byte").c_str(),
              hdr_size, mapped);
}

void show_record(const RecordView& record) {
  std::printf("0x%08" PRIx64 " %10" PRIu64 ".%09" PRIu64 " ", record.offset, record.when / 1'000'000'000,
              record.when % 1'000'000'000);
  switch (static_cast<RecordId>(record.id)) {
    case RecordId::kCodeLoad:
      return show_load(record);
    case RecordId::kCodeMove:
      return show_move(record);
    case RecordId::kCodeDebugInfo:
      return show_lines(record);
    case RecordId::kCodeUnwindingInfo:
      return show_tables(record);
    case RecordId::kCodeClose:
      std::printf("close\n");
      return;
    case RecordId::kInlineInfo:
      std::printf("inline %s, for samply\n", counted(record.size, "byte").c_str());
      return;
  }
  std::printf("unknown record %u, %s\n", record.id, counted(record.size, "byte").c_str());
}

const char* words_of(RecordWalk::End end) {
  switch (end) {
    case RecordWalk::End::kTorn:
      return "the file ends inside of a record here: its process was killed while it wrote, or writes still";
    case RecordWalk::End::kNoSize:
      return "a record without a body: nothing can be read behind it";
    case RecordWalk::End::kZeroes:
      return "nothing but zeroes from here on";
    default:
      return nullptr;
  }
}

void show_dump(std::span<const std::uint8_t> bytes, std::uint64_t limit) {
  RecordWalk walk(bytes);
  const jitdump::HeaderView& header = walk.header();
  std::printf("jitdump of process %u, machine %u, made at %" PRIu64 ".%09" PRIu64 ", stamps are %s\n",
              header.pid, header.machine, header.when / 1'000'000'000, header.when % 1'000'000'000,
              (header.flags & 1) != 0 ? "of the CPU's counter" : "CLOCK_MONOTONIC");
  std::uint64_t shown = 0;
  while (const auto record = walk.next()) {
    if (limit != 0 && shown++ == limit) return;
    show_record(*record);
  }
  if (const char* const words = words_of(walk.end()); words != nullptr)
    std::printf("0x%08" PRIx64 " %s\n", walk.offset(), words);
}

void show_statistics(const std::vector<StatisticsRow>& rows, std::uint64_t limit) {
  std::size_t width = 0;
  for (const StatisticsRow& row : rows) width = std::max(width, row.name.size());
  std::uint64_t shown = 0;
  for (const StatisticsRow& row : rows) {
    if (limit != 0 && shown++ == limit) return;
    std::printf("%-*s %12" PRIu64 "  %s\n", static_cast<int>(std::min<std::size_t>(width, 60)),
                plain(row.name).c_str(), row.value, plain(row.meaning).c_str());
  }
}

void show_text(std::string_view text, std::uint64_t limit) {
  std::uint64_t shown = 0;
  while (!text.empty() && (limit == 0 || shown++ < limit)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::printf("%s\n", plain(text.substr(0, end)).c_str());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

int do_verb(const ShowArguments& arguments) {
  const FileBytes file(arguments.file);
  const std::string_view text(reinterpret_cast<const char*>(file.view().data()), file.view().size());
  const RecordWalk walk(file.view());
  const bool is_dump = walk.end() != RecordWalk::End::kWrongMagic && walk.end() != RecordWalk::End::kNoHeader;
  std::string trouble = file.trouble();
  const FileKind* const kind = kind_of(file.view());
  if (!is_dump && kind == nullptr && text.find('\0') != text.npos)
    trouble = words_of_other(file.view(), "it is no text");
  if (!trouble.empty()) {
    say(plain(arguments.file) + ": " + trouble);
    return kUnreadable;
  }
  const auto rows =
      arguments.file.ends_with("stats") ? read_statistics(arguments.file) : std::vector<StatisticsRow>{};
  if (is_dump) {
    show_dump(file.view(), arguments.limit);
  } else if (kind != nullptr) {
    kind->show(file.view(), arguments.limit);
  } else if (!rows.empty()) {
    show_statistics(rows, arguments.limit);
  } else {
    show_text(text, arguments.limit);
  }
  return 0;
}

}  // namespace jitquill::cli
