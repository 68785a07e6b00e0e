// One page that any child with memory of its own finds zeroed: how the agent notices that it was forked.
//
// Fork handlers run only for fork(); a raw clone() skips them. The kernel wipes this page for both, so a
// child sees generation 0 and a free lock without anybody's help. A vfork child shares the page with its
// parent.
//
// Context   [hook]: reading. The first call maps the page; it takes no lock.
// Does not  exist before Linux 4.14: then an ordinary page serves, and only fork() is noticed
//           (life/birth.cpp).
#pragma once

#include <atomic>
#include <cstdint>

namespace jitquill {

struct ProcessPage {
  std::atomic<std::uint32_t> lock_word;            // leaf_lock.hpp
  std::atomic<std::uint32_t> generation;           // 0 = nobody has adopted this process yet
  std::atomic<std::uint32_t> unwinders_lock_word;  // unwinders/registry.hpp
  std::atomic<std::uint32_t> intakes_lock_word;    // intake/intake_lock.hpp
  std::atomic<std::uint32_t> drain_lock_word;      // drain_lock.hpp
};

extern constinit std::atomic<ProcessPage*> g_process_page;  // null = not mapped yet
ProcessPage& map_process_page() noexcept;

// Inline: every call of the agent asks several times.
inline ProcessPage& process_page() noexcept {
  ProcessPage* const page = g_process_page.load(std::memory_order_acquire);
  return page != nullptr ? *page : map_process_page();
}

}  // namespace jitquill
