// The announced bytes cannot be read: the fault handler announces another function, makes them readable and
// returns, as runtimes do that commit memory on first touch. Its announcement comes first: the outer one
// holds nothing yet.
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

std::uint8_t* unreadable;
pattern::Announcement* inner;
jitquill_status inner_status = JITQUILL_NO_AGENT;
int faults;

void on_fault(int, siginfo_t* info, void*) {
  const auto* at = static_cast<const std::uint8_t*>(info->si_addr);
  if (++faults > 1 || at < unreadable || at >= unreadable + pattern::kSpacing) _exit(5);
  inner_status = inner->announce();
  mprotect(unreadable, 4096, PROT_READ | PROT_WRITE);
}

}  // namespace

int main() {
  CodeMemory first(8);  // one page
  CodeMemory second(8);
  unreadable = first.at(0);
  pattern::Announcement outer(0, unreadable);
  pattern::Announcement other(1, second.at(0));
  inner = &other;
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  jitquill_wants_code();  // looks the agent up outside of handlers
  mprotect(unreadable, 4096, PROT_NONE);
  const jitquill_status outer_status = outer.announce();
  std::printf("outer %d inner %d faults %d\n", outer_status, inner_status, faults);
  return outer_status == JITQUILL_OK && inner_status == JITQUILL_OK && faults == 1 ? 0 : 1;
}
