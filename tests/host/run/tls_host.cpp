// Has more thread-local variables than a small stack has room for: its threads' stacks hold them all.
#include <jitquill/jitquill.h>

#include <cstdint>

thread_local char g_large[1 << 20];

int main() {
  g_large[0] = 1;
  const jitquill_function_info info = {sizeof info, 1, "f", "/src/program.lang"};
  std::uint64_t id = 0;
  if (jitquill_function(&info, &id) != JITQUILL_OK) return 2;
  for (int i = 0; i < 1000; ++i) {
    if (jitquill_enter(id, 1) != JITQUILL_OK || jitquill_leave(id, 1) != JITQUILL_OK) return 3;
  }
  return 0;
}
