#include "agent/life/coverage.hpp"

#include <fcntl.h>

#include <memory>
#include <new>

#include "agent/base/clock.hpp"
#include "agent/base/code_memory.hpp"
#include "agent/base/text_lines.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kBufferSize = 8192;  // a path has 4,095 bytes at most
constexpr std::uint32_t kMostMappings = 65'536;
constexpr std::uint64_t kFreeNs = 500'000;
constexpr std::uint64_t kShareOfTime = 400;

}  // namespace

Coverage measure_coverage(const char* maps, const CodeMap& code) noexcept {
  Coverage coverage;
  // Not on the stack: a host's thread may have 16 KiB of it.
  const std::unique_ptr<char[]> buffer(new (std::nothrow) char[kBufferSize]);
  const int file = buffer ? raw::open_at(AT_FDCWD, maps, O_RDONLY | O_CLOEXEC, 0) : -1;
  if (file < 0) return coverage;
  std::uint32_t mappings = 0;
  (void)any_line(file, {buffer.get(), kBufferSize}, [&](std::string_view line) {
    if (const auto range = code_range(line)) {
      coverage.code_bytes += range->end - range->start - own_code_in(*range);
      coverage.known_bytes += code.bytes_in(range->start, range->end);
    }
    return ++mappings == kMostMappings;
  });
  raw::close(file);
  return coverage;
}

void CodeCoverage::take(const Coverage& now) noexcept {
  const bool is_more = now.code_bytes != most_.code_bytes ? now.code_bytes > most_.code_bytes
                                                          : now.known_bytes > most_.known_bytes;
  if (is_more) most_ = now;
}

void CodeCoverage::look_if_cheap(const CodeMap& code) noexcept {
  looked_ = loads_;
  const std::uint64_t now_ns = monotonic_ns();
  if (first_ns_ == 0) first_ns_ = now_ns;
  if (spent_ns_ > kFreeNs + (now_ns - first_ns_) / kShareOfTime) return;
  const std::uint64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  take(measure_coverage(kMaps, code));
  spent_ns_ += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

}  // namespace jitquill
