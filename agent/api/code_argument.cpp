#include "agent/api/code_argument.hpp"

#include <cstring>

namespace jitquill {
namespace {

constexpr std::uint64_t kMaxCodeSize = (std::uint64_t{1} << 31) - 1;  // perf keeps sizes in an int
constexpr std::size_t kMaxNameSize = 64 * 1024;  // formats cut far below; bounds our reading

bool has_all(const void* rows, std::size_t count) noexcept {
  return count == 0 || rows != nullptr;
}

bool is_known_unwinding(std::uint32_t unwinding) noexcept {
  return unwinding == JITQUILL_UNWINDING_UNKNOWN || unwinding == JITQUILL_UNWINDING_FRAME_EVENTS;
}

std::span<const FrameEvent> frame_of(const jitquill_code& code) noexcept {
  return {reinterpret_cast<const FrameEvent*>(code.frame), code.frame_count};
}

}  // namespace

Status read_code(const jitquill_code* argument, CodeLoad& load) noexcept {
  jitquill_code code;
  if (!read_struct(argument, code) || code.addr == nullptr) return Status::kBadArgument;
  if (!has_all(code.lines, code.line_count) || !has_all(code.frame, code.frame_count))
    return Status::kBadArgument;
  if (!is_known_unwinding(code.unwinding)) return Status::kBadArgument;
  if (code.size == 0) return Status::kEmptyCode;
  if (code.size > kMaxCodeSize) return Status::kTooLarge;

  load.address = reinterpret_cast<std::uint64_t>(code.addr);
  if (load.address + code.size < load.address) return Status::kBadArgument;
  load.bytes = {static_cast<const std::uint8_t*>(code.bytes != nullptr ? code.bytes : code.addr), code.size};
  if (code.name != nullptr) load.name = {code.name, strnlen(code.name, kMaxNameSize)};
  load.file = code.file;
  load.lines = {reinterpret_cast<const Line*>(code.lines), code.line_count};
  load.frame = frame_of(code);
  load.has_frame = code.unwinding == JITQUILL_UNWINDING_FRAME_EVENTS;
  load.room = code.room > kMaxCodeSize ? static_cast<std::uint32_t>(kMaxCodeSize)
                                       : static_cast<std::uint32_t>(code.room);
  return Status::kOk;
}

bool read_frame(const jitquill_code* argument, FrameArgument& frame) noexcept {
  jitquill_code code;
  if (!read_struct(argument, code) || !has_all(code.frame, code.frame_count)) return false;
  if (code.unwinding != JITQUILL_UNWINDING_FRAME_EVENTS || code.size == 0 || code.size > kMaxCodeSize)
    return false;
  frame = {frame_of(code), code.size};
  return true;
}

}  // namespace jitquill
