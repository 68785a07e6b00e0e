#include "tests/unit/drain/killing_syscall.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace {

std::uint64_t made = 0;
std::uint64_t fatal = ~std::uint64_t{0};
jitquill::tests::KillWhen how = jitquill::tests::KillWhen::kBefore;

long plain(long number, const long (&a)[6]) {
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

bool changes_a_file(long number) {
  return number == SYS_write || number == SYS_ftruncate || number == SYS_renameat;
}

void die() {
  const long status[6] = {jitquill::tests::kKilled};
  plain(SYS_exit_group, status);
}

}  // namespace

namespace jitquill::tests {

void kill_at(std::uint64_t number, KillWhen when) {
  made = 0;
  fatal = number;
  how = when;
}
std::uint64_t changes_made() {
  return made;
}

}  // namespace jitquill::tests

extern "C" long syscall(long number, ...) noexcept {
  using jitquill::tests::KillWhen;
  long a[6];
  va_list list;
  va_start(list, number);
  for (long& argument : a) argument = va_arg(list, long);
  va_end(list);
  const bool is_fatal = changes_a_file(number) && made++ == fatal;
  if (is_fatal && how == KillWhen::kBefore) die();
  if (is_fatal && how == KillWhen::kHalfway && number == SYS_write) a[2] /= 2;
  const long result = plain(number, a);
  if (is_fatal) die();
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}
