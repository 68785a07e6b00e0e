// Announces functions 0 to 4, becomes a daemon in "/" without any descriptor, and announces 5 to 9. The
// daemon's exit status tells: 8 if all went well.
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/host/leave/jit.hpp"

int main() {
  Jit jit;
  if (!jit.announce(0, 5)) return 3;
  if (daemon(0, 0) != 0) return 4;
  alarm(30);
  if (syscall(SYS_close_range, 0u, ~0u, 0u) != 0) return 5;
  if (!jit.announce(5, 8)) return 6;
  if (dup(0) != -1) return 7;  // nothing of ours may stand there
  return jit.announce(8, 10) ? 8 : 9;
}
