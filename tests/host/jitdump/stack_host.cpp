// Calls the agent where there is hardly any stack. Arguments: thread (the smallest that a thread may have),
// or handler (a signal's own stack, 4 KiB larger than the kernel needs). Below each stack lies a guard.
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <string>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kMoreByChecks = 64 * 1024;
#else
constexpr std::size_t kMoreByChecks = 0;
#endif
constexpr std::size_t kForHandler = 4096;

pattern::Announcement* plain;
pattern::Announcement* told;  // in the log, which is made then
bool is_good = false;

void* call_all(void*) {
  const bool announced = plain->announce() == JITQUILL_OK && told->announce() == JITQUILL_LINES_LEFT_OUT;
  is_good = announced && jitquill_stop() == JITQUILL_OK;
  return nullptr;
}

void on_signal(int) {
  call_all(nullptr);
}

// A page that nobody may touch, then at least `size` bytes.
void* guarded(std::size_t size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory =
      mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) return nullptr;
  return static_cast<char*>(memory) + page;
}

bool in_thread() {
  const std::size_t size = static_cast<std::size_t>(PTHREAD_STACK_MIN) + kMoreByChecks;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_t thread;
  return pthread_attr_setstack(&attributes, guarded(size), size) == 0 &&
         pthread_create(&thread, &attributes, call_all, nullptr) == 0 && pthread_join(thread, nullptr) == 0;
}

bool in_handler() {
  const std::size_t size = static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + kForHandler + kMoreByChecks;
  stack_t stack = {};
  stack.ss_sp = guarded(size);
  stack.ss_size = size;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_ONSTACK;
  return sigaltstack(&stack, nullptr) == 0 && sigaction(SIGUSR1, &action, nullptr) == 0 &&
         raise(SIGUSR1) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  CodeMemory memory(2);
  const jitquill_line outside = {100'000, 1, 0, 0, nullptr};
  pattern::Announcement first(0, memory.at(0));
  pattern::Announcement second(1, memory.at(1));
  second.code().lines = &outside;
  second.code().line_count = 1;
  plain = &first;
  told = &second;
  jitquill_wants_code();  // looks the agent up, which takes a stack of its own
  const bool ran = std::string(argv[1]) == "thread" ? in_thread() : in_handler();
  return ran && is_good ? 0 : 1;
}
