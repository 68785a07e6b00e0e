#include "tests/unit/drain/killing_syscall.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <iterator>

#include "writer/bytes/kernel_call.hpp"

namespace {

using jitquill::tests::KillWhen;

std::uint64_t made = 0;
std::uint64_t fatal = ~std::uint64_t{0};
KillWhen how = KillWhen::kBefore;

// In the sixth argument, which none of the trapped calls has: the call is ours, and passes.
constexpr std::uint32_t kOurs = 0x6B11ED77;

constexpr sock_filter load(std::size_t from) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(from));
}
constexpr sock_filter skip_if(std::uint32_t value, std::uint8_t count) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, count, 0);
}

// What changes a file raises SIGSYS, whoever makes the call and however.
constexpr sock_filter kFilter[] = {
    load(offsetof(seccomp_data, nr)),
    skip_if(SYS_write, 3),
    skip_if(SYS_ftruncate, 2),
    skip_if(SYS_renameat, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    load(offsetof(seccomp_data, args[5])),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kOurs, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
};

void die() {
  _exit(jitquill::tests::kKilled);
}

void make_the_call(int, siginfo_t* info, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const long number = info->si_syscall;
  const bool is_fatal = made++ == fatal;
  if (is_fatal && how == KillWhen::kBefore) die();
  long size = registers[REG_RDX];
  if (is_fatal && how == KillWhen::kHalfway && number == SYS_write) size /= 2;
  registers[REG_RAX] = jitquill::kernel_call(number, registers[REG_RDI], registers[REG_RSI], size,
                                             registers[REG_R10], registers[REG_R8], kOurs);
  if (is_fatal) die();
}

void trap_changes() {
  struct sigaction action = {};
  action.sa_sigaction = make_the_call;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  const sock_fprog program = {std::size(kFilter), const_cast<sock_filter*>(kFilter)};
  if (sigaction(SIGSYS, &action, nullptr) != 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::abort();
}

}  // namespace

namespace jitquill::tests {

void kill_at(std::uint64_t number, KillWhen when) {
  made = 0;
  fatal = number;
  how = when;
  trap_changes();
}
std::uint64_t changes_made() {
  return made;
}

}  // namespace jitquill::tests
