#include "agent/base/process_page.hpp"

#include <sys/mman.h>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kPageSize = 4096;

alignas(64) constinit ProcessPage g_ordinary_page{};

ProcessPage* map_page() noexcept {
  const long mapped = raw::map(kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(mapped)) return &g_ordinary_page;
  if (raw::call(SYS_madvise, mapped, kPageSize, MADV_WIPEONFORK) != 0) {
    raw::unmap(reinterpret_cast<void*>(mapped), kPageSize);
    return &g_ordinary_page;
  }
  return reinterpret_cast<ProcessPage*>(mapped);  // the kernel's zeroes are the initial value
}

}  // namespace

constinit std::atomic<ProcessPage*> g_process_page{nullptr};

ProcessPage& map_process_page() noexcept {
  ProcessPage* page = nullptr;
  ProcessPage* mine = map_page();
  if (g_process_page.compare_exchange_strong(page, mine, std::memory_order_acq_rel)) return *mine;
  if (mine != &g_ordinary_page) raw::unmap(mine, kPageSize);  // another thread was first
  return *page;
}

}  // namespace jitquill
