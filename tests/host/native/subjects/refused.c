/* A program that may not make memory executable, or change executable memory. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/host/native/subjects/subject.h"

CALL double call_leaf(double x) {
  COUNT(call_leaf);
  KEEP_FRAME;
  return x * 2;
}
CALL double call_deep(int depth) {
  COUNT(call_deep);
  const double inside = depth == 0 ? 0 : call_deep(depth - 1);
  KEEP_FRAME;
  return inside + call_leaf(0.5);
}

/* mprotect(), pkey_mprotect() and mmap() with both rights get EPERM, as from a kernel that forbids them;
 * mprotect() with PROT_EXEC alone too. */
UNTRACED static void refuse(void) {
  enum { kProtection = offsetof(struct seccomp_data, args[2]) };
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pkey_mprotect, 0, 6),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kProtection),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 3, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kProtection),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, PROT_EXEC | PROT_WRITE),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PROT_EXEC | PROT_WRITE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  EXPECT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

UNTRACED int main(int argc, char** argv) {
  if (strcmp(argv[argc - 1], "refused") != 0) {
    refuse();
    char* words[] = {argv[0], argc > 1 ? argv[1] : (char*)"1", (char*)"refused", NULL};
    execv("/proc/self/exe", words);
    fail(__LINE__);
  }
  const int both = PROT_READ | PROT_WRITE | PROT_EXEC;
  EXPECT(mmap(NULL, 4096, both, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED && errno == EPERM);
  void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(mprotect(page, 4096, PROT_READ | PROT_EXEC) == -1 && errno == EPERM);
  const unsigned rounds = 20 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) EXPECT(call_deep(9) == 10);
  tell_counts();
  return 0;
}
