// A host whose allocator ends the process while the agent works: malloc, operator new and their kin are the
// program's own, for every library in it. Prints the statuses of what it asked for.
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "tests/host/jitdump/code_memory.hpp"

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);
}

namespace {

bool is_forbidden = false;

void check() {
  if (is_forbidden) __builtin_trap();
}

// Calls the agent; nothing of the host's memory may be asked for meanwhile.
template <class Call>
void without_allocator(const char* what, Call call) {
  is_forbidden = true;
  const int status = call();
  is_forbidden = false;
  std::printf("%s %d\n", what, status);
}

}  // namespace

extern "C" {
void* malloc(std::size_t size) noexcept {
  check();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) noexcept {
  check();
  return __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) noexcept {
  check();
  return __libc_realloc(block, size);
}
void* memalign(std::size_t alignment, std::size_t size) noexcept {
  check();
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  check();
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) noexcept {
  check();
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) noexcept {
  check();
  __libc_free(block);
}
}

void* operator new(std::size_t size) {
  void* const block = malloc(size);
  if (block == nullptr) std::abort();
  return block;
}
void operator delete(void* block) noexcept {
  free(block);
}
void operator delete(void* block, std::size_t) noexcept {
  free(block);
}

int main() {
  constexpr std::uint32_t kFunctions = 2'000;
  CodeMemory memory(kFunctions + 1);
  pattern::Announcement first(0, memory.at(0));
  pattern::Announcement movable(1, memory.at(1));
  movable.code().flags = JITQUILL_CODE_MAY_MOVE | JITQUILL_CODE_MAY_FAULT;
  std::printf("wants %d\n", jitquill_wants_code());  // looks the agent up, and takes stdout's buffer
  without_allocator("first", [&] { return first.announce(); });
  without_allocator("movable", [&] { return movable.announce(); });
  without_allocator("moved", [&] {
    for (std::size_t at = 0; at < movable.code().size; ++at) memory.at(2)[at] = memory.at(1)[at];
    return jitquill_code_moved(memory.at(1), memory.at(2), 0);
  });
  without_allocator("many", [&] {
    int worst = 0;
    for (std::uint32_t i = 3; i < kFunctions; ++i) {
      const int status = pattern::Announcement(i, memory.at(i)).announce();
      if (status != 0) worst = status;
    }
    return worst;
  });
  without_allocator("unloaded", [&] { return jitquill_code_unloaded(memory.at(0)); });
  without_allocator("stop", [] { return jitquill_stop(); });
  without_allocator("start", [] { return jitquill_start(nullptr); });
  without_allocator("again", [&] { return first.announce(); });
  std::atexit([] { is_forbidden = true; });  // the agent's end comes behind it
  std::fflush(stdout);
  return 0;
}
