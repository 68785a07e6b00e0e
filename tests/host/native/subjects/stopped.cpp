// Tracing ends while a hundred functions are open, whose return addresses are taken: they return, throw, are
// walked and jumped over as before, and so do those that are called afterwards.
#include <dlfcn.h>
#include <execinfo.h>

#include <csetjmp>

#include "tests/host/native/subjects/subject.h"

namespace {

int g_destroyed = 0;
struct Guard {
  UNTRACED Guard() {}
  UNTRACED ~Guard() { ++g_destroyed; }
};
std::jmp_buf g_back;

UNTRACED void stop() {
  auto* const jitquill_stop = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "jitquill_stop"));
  if (jitquill_stop != nullptr) jitquill_stop();
}

}  // namespace

CALL double call_after(double x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int call_stop_and_return(int depth) {
  COUNT(call_stop_and_return);
  if (depth == 0) {
    stop();
    void* walked[200];
    return backtrace(walked, 200) > 100 ? 0 : 1000;
  }
  const int inside = call_stop_and_return(depth - 1);
  KEEP_FRAME;
  return inside + (call_after(1) == 2);
}
CALL int call_stop_and_throw(int depth) {
  COUNT(call_stop_and_throw);
  const Guard guard;
  if (depth == 0) {
    stop();
    throw 5;
  }
  const int inside = call_stop_and_throw(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_stop_and_jump(int depth) {
  COUNT(call_stop_and_jump);
  if (depth == 0) {
    stop();
    std::longjmp(g_back, 6);
  }
  const int inside = call_stop_and_jump(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}

UNTRACED int main(int argc, char** argv) {
  const char how = argc > 2 ? argv[2][0] : 'r';
  if (how == 'r') EXPECT(call_stop_and_return(100) == 100);
  if (how == 't') {
    int caught = 0;
    try {
      call_stop_and_throw(100);
    } catch (int value) {
      caught = value;
    }
    EXPECT(caught == 5 && g_destroyed == 101);
  }
  if (how == 'j') {
    const int value = setjmp(g_back);
    if (value == 0) call_stop_and_jump(100);
    EXPECT(value == 6);
  }
  const unsigned rounds = 1000 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) EXPECT(call_after(i) == i + 1.0);
  tell_counts();
  return 0;
}
