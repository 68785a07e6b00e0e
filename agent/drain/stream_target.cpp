#include "agent/drain/stream_target.hpp"

#include <charconv>

#include "agent/base/text_pieces.hpp"

namespace jitquill {

const char* StreamTarget::set(std::string_view value) noexcept {
  constexpr std::string_view kDescriptorWord = "fd:", kFifoWord = "fifo:", kSocketWord = "unix:";
  constexpr const char* kMustBe = "must be file, fd:NUMBER, fifo:PATH or unix:PATH";
  if (value == "file") {
    kind = Kind::kFile;
    return nullptr;
  }
  if (value.starts_with(kDescriptorWord)) {
    const std::string_view digits = without_first(value, kDescriptorWord.size());
    int number = -1;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || rest != digits.data() + digits.size() || number < 0) return kMustBe;
    identity.note(number);
    if (!identity.is_of(number)) return "no descriptor of this number is open";
    kind = Kind::kDescriptor;
    descriptor = number;
    pid = static_cast<std::uint32_t>(raw::call(SYS_getpid));
    return nullptr;
  }
  const bool is_fifo = value.starts_with(kFifoWord);
  if (!is_fifo && !value.starts_with(kSocketWord)) return kMustBe;
  const std::string_view name = without_first(value, is_fifo ? kFifoWord.size() : kSocketWord.size());
  if (name.empty()) return kMustBe;
  if (!path.set(name)) return "path longer than the 107 bytes that a socket's address has";
  kind = is_fifo ? Kind::kFifo : Kind::kSocket;
  return nullptr;
}

}  // namespace jitquill
