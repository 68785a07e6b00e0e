// samply's record of inlined calls, which is not part of the published format: readers skip it, perf with a
// warning.
#include <algorithm>
#include <cassert>

#include "writer/bytes/names.hpp"
#include "writer/jitdump/record_scope.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::jitdump {
namespace {

[[maybe_unused]] constexpr std::uint32_t kInlineHeadSize = kPrefixSize + 32;
constexpr std::uint32_t kNoFile = 0xFFFFFFFF;

bool are_usable(const Inlining& inlining, std::uint64_t code_size) noexcept {
  std::uint32_t offset = 0;
  for (const InlineRow& row : inlining.rows) {
    if (row.offset < offset || row.offset >= code_size || row.position >= inlining.positions.size())
      return false;
    offset = row.offset;
  }
  // A caller comes before what is inlined into it, so that no chain of callers is endless.
  std::int64_t index = 0;
  for (const InlinePosition& position : inlining.positions) {
    if (position.caller < -1 || position.caller >= index || position.function == nullptr) return false;
    ++index;
  }
  return true;
}

// Strings are numbered as they are put: a position's function, then its file if it has one.
void put_strings(Bytes& out, const Inlining& inlining) noexcept {
  for (const InlinePosition& position : inlining.positions) {
    (void)put_clean(out, position.function);
    out.u8(0);
    if (position.file == nullptr) continue;
    (void)put_clean(out, position.file);
    out.u8(0);
  }
}

// | caller i32 | function u32 | file i32 | function_line u32 | function_column u32 | line u32 | column u32 |
std::uint32_t put_positions(Bytes& out, const Inlining& inlining) noexcept {
  std::uint32_t strings = 0;
  for (const InlinePosition& position : inlining.positions) {
    out.u32(static_cast<std::uint32_t>(position.caller)).u32(strings++);
    out.u32(position.file == nullptr ? kNoFile : strings++);
    out.u32(position.function_line).u32(position.function_column).u32(position.line).u32(position.column);
  }
  return strings;
}

}  // namespace

// | prefix | code_addr u64 | rows u64 | positions u64 | strings u64 | rows | positions | strings, NUL each |
Status put_inline_info(Bytes& out, const CodeLoad& load) noexcept {
  const Inlining& inlining = load.inlining;
  if (inlining.rows.empty()) return Status::kOk;
  if (!are_usable(inlining, load.bytes.size())) return Status::kLinesLeftOut;
  RecordScope record(out, RecordId::kInlineInfo, load.when_ns);
  out.u64(load.address).u64(inlining.rows.size()).u64(inlining.positions.size());
  const std::size_t strings_at = out.size();
  out.u64(0);
  assert(record.is_at(kInlineHeadSize));
  for (const InlineRow& row : inlining.rows) out.u32(row.offset).u32(row.position);
  out.patch_u64(strings_at, put_positions(out, inlining));
  put_strings(out, inlining);
  return record.end() ? Status::kOk : Status::kLinesLeftOut;
}

}  // namespace jitquill::jitdump
