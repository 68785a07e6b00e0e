#include "agent/base/thread_id.hpp"

#include "agent/base/process_page.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

struct CachedTid {
  std::uint32_t tid;
  std::uint32_t generation;
};

// Initial-exec: never allocated lazily, so it is safe in a signal handler of a thread's first moment.
[[gnu::tls_model("initial-exec")]] constinit thread_local CachedTid t_cached{};

}  // namespace

std::uint32_t current_tid() noexcept {
  const std::uint32_t generation = process_page().generation.load(std::memory_order_relaxed);
  if (generation != 0 && t_cached.generation == generation) return t_cached.tid;
  const auto tid = static_cast<std::uint32_t>(raw::call(SYS_gettid));
  t_cached = {tid, generation};
  return tid;
}

std::uint32_t current_pid() noexcept {
  return static_cast<std::uint32_t>(raw::call(SYS_getpid));
}

}  // namespace jitquill
