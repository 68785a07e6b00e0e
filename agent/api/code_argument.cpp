#include "agent/api/code_argument.hpp"

#include <atomic>
#include <cstring>

#include "writer/bytes/hash.hpp"
#include "writer/unwind/eh_frame_read.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kMaxNameRead = 64 * 1024;  // formats cut far below; bounds our reading

// There, and no more of them than memory could hold.
template <class Row>
bool has_all(const Row* rows, std::size_t count) noexcept {
  if (count == 0) return true;
  return rows != nullptr && count <= (~reinterpret_cast<std::uintptr_t>(rows)) / sizeof(Row);
}

bool has_all_arrays(const jitquill_code& code) noexcept {
  return has_all(code.lines, code.line_count) && has_all(code.frame, code.frame_count) &&
         has_all(static_cast<const std::uint8_t*>(code.eh_frame), code.eh_frame_size) &&
         has_all(code.inline_positions, code.inline_position_count) &&
         has_all(code.inline_rows, code.inline_row_count) && has_all(code.sites, code.site_count);
}

// Where the last entry was found: runtimes tell of a module one function after the other, each with the
// section of all. | hash of the section's place and size u32 | offset u32 |. One that is stale costs time: an
// entry that does not name just this function is passed over, wherever it was read.
constinit std::atomic<std::uint64_t> g_last_entry{0};

std::optional<unwind::FoundFde> find_entry(std::span<const std::uint8_t> section,
                                           std::uint64_t section_address, std::uint64_t address,
                                           std::uint64_t size) noexcept {
  constexpr unsigned kHalf = 32;
  constexpr std::uint64_t kLow = ~std::uint32_t{0};
  const std::uint64_t key = mix(section_address, section.size()) & ~kLow;
  const std::uint64_t last = g_last_entry.load(std::memory_order_relaxed);
  const std::size_t from = (last & ~kLow) == key ? static_cast<std::size_t>(last & kLow) : 0;
  const auto found = unwind::FdeFinder(section, section_address, 0, from).find(address, size);
  const std::uint64_t offset = found ? found->address - section_address : 0;
  if (offset >> kHalf == 0) g_last_entry.store(key | offset, std::memory_order_relaxed);
  return found;
}

// A compiler's tables: refused if they have no entry for exactly this code, or one that cannot be moved.
void read_eh_frame(const jitquill_code& code, Unwinding& unwinding) noexcept {
  const auto* section = static_cast<const std::uint8_t*>(code.eh_frame);
  const void* written_for = code.eh_frame_addr != nullptr ? code.eh_frame_addr : code.eh_frame;
  const auto found = find_entry({section, code.eh_frame_size}, reinterpret_cast<std::uint64_t>(written_for),
                                reinterpret_cast<std::uint64_t>(code.addr), code.size);
  unwinding.kind = found ? Unwinding::Kind::kReady : Unwinding::Kind::kRefused;
  if (found) unwinding.ready = found->cfi;
}

// Into one that says nothing yet.
void read_frame(const jitquill_code& code, Unwinding& unwinding) noexcept {
  using Kind = Unwinding::Kind;
  switch (code.unwinding) {
    case JITQUILL_UNWINDING_UNKNOWN:
      return;
    case JITQUILL_UNWINDING_FRAME_EVENTS:
      unwinding.kind = Kind::kFrameEvents;
      unwinding.events = {reinterpret_cast<const FrameEvent*>(code.frame), code.frame_count};
      return;
    case JITQUILL_UNWINDING_EH_FRAME:
      return read_eh_frame(code, unwinding);
    case JITQUILL_UNWINDING_FRAME_POINTERS:
      unwinding.kind = Kind::kFramePointers;
      return;
    default:
      unwinding.kind = Kind::kRefused;  // of a newer header
  }
}

}  // namespace

std::uint32_t clamped_room(std::size_t room) noexcept {
  return static_cast<std::uint32_t>(room < kMaxCodeSize ? room : kMaxCodeSize);
}

Status read_code(const jitquill_code* argument, CodeLoad& load) noexcept {
  jitquill_code older;
  const jitquill_code* const whole = whole_struct(argument, older);
  if (whole == nullptr || whole->addr == nullptr) return Status::kBadArgument;
  const jitquill_code& code = *whole;
  if (!has_all_arrays(code)) return Status::kBadArgument;
  if (code.size == 0) return Status::kEmptyCode;
  if (code.size > kMaxCodeSize) return Status::kTooLarge;

  load.address = reinterpret_cast<std::uint64_t>(code.addr);
  if (!is_placeable(load.address, code.size)) return Status::kBadArgument;
  load.bytes = {static_cast<const std::uint8_t*>(code.bytes != nullptr ? code.bytes : code.addr), code.size};
  if (code.name != nullptr) load.name = {code.name, strnlen(code.name, kMaxNameRead)};
  load.file = code.file;
  load.lines = {reinterpret_cast<const Line*>(code.lines), code.line_count};
  load.inlining.positions = {reinterpret_cast<const InlinePosition*>(code.inline_positions),
                             code.inline_position_count};
  load.inlining.rows = {reinterpret_cast<const InlineRow*>(code.inline_rows), code.inline_row_count};
  read_frame(code, load.unwinding);
  load.sites = {reinterpret_cast<const Site*>(code.sites), code.site_count};
  load.writable = static_cast<std::uint8_t*>(code.writable);
  load.may_fault = (code.flags & JITQUILL_CODE_MAY_FAULT) != 0;
  load.may_move = (code.flags & JITQUILL_CODE_MAY_MOVE) != 0;
  load.registers_unwinding = (code.flags & JITQUILL_CODE_REGISTER) != 0;
  load.room = clamped_room(code.room);
  return Status::kOk;
}

bool read_unwinding(const jitquill_code* argument, Unwinding& unwinding, std::uint64_t& code_size) noexcept {
  jitquill_code code;
  if (!read_struct(argument, code) || !has_all_arrays(code)) return false;
  if (code.size == 0 || code.size > kMaxCodeSize) return false;
  unwinding = {};
  read_frame(code, unwinding);
  code_size = code.size;
  return unwinding.has_rows();
}

}  // namespace jitquill
