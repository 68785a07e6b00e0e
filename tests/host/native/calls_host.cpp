// Functions whose calls are known, compiled as the targets say. `hidden` is named by no pattern. Each wrong
// result is an exit code of its own.
#include <execinfo.h>
#include <pthread.h>

#include <csetjmp>
#include <cstdint>
#include <cstdlib>

#include "tests/host/native/traced.h"

namespace {

int g_destroyed = 0;
struct Guard {
  UNTRACED Guard() {}
  UNTRACED ~Guard() { ++g_destroyed; }
};
std::jmp_buf g_back;

UNTRACED void expect(bool is_so, int code) {
  if (!is_so) std::_Exit(code);
}

}  // namespace

CALL int call_leaf(int x) {
  KEEP_FRAME;
  return x * 3;
}
CALL double call_double(double a, double b) {
  return a * b + call_leaf(static_cast<int>(a));
}
CALL int hidden(int x) {
  const int inside = call_leaf(x) + call_leaf(x + 1);
  KEEP_FRAME;
  return inside;
}
CALL int call_middle(int x) {
  const int inside = hidden(x);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_thrower(int depth) {
  const Guard guard;
  if (depth == 0) throw 7;
  const int inside = call_thrower(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_catcher() {
  try {
    return call_thrower(2);
  } catch (int value) {
    return value;
  }
}
CALL int call_jumper(int depth) {
  if (depth == 0) std::longjmp(g_back, 1);
  const int inside = call_jumper(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_setter() {
  if (setjmp(g_back) == 0) return call_jumper(2);
  return 9;
}
CALL int call_tail2(int x) {
  KEEP_FRAME;
  return x + 1;
}
CALL int call_tail1(int x) {
  return call_tail2(x * 2);
}
CALL int call_walker(const void* caller) {
  void* walked[32];
  const int count = backtrace(walked, 32);
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const std::uintptr_t in_caller =
        reinterpret_cast<std::uintptr_t>(walked[i]) - reinterpret_cast<std::uintptr_t>(caller);
    if (in_caller < 200) ++found;
  }
  return found;
}
CALL int call_walked() {
  const int found = call_walker(reinterpret_cast<const void*>(&call_walked));
  KEEP_FRAME;
  return found;
}
CALL void* call_thread(void* from) {
  const Guard guard;
  const double result = call_double(*static_cast<double*>(from), 2);
  KEEP_FRAME;
  pthread_exit(result == 11.5 ? from : nullptr);
}

int main() {
  expect(call_double(2.5, 2) == 11, 10);
  expect(call_middle(1) == 10, 11);
  for (int i = 0; i < 3; ++i) expect(call_catcher() == 7 && g_destroyed == 3 * (i + 1), 12);
  expect(call_setter() == 9, 13);
  expect(call_tail1(4) == 9, 14);
  expect(call_walked() == 1, 17);
  double value = 2.75;
  pthread_t thread;
  expect(pthread_create(&thread, nullptr, call_thread, &value) == 0, 15);
  void* told = nullptr;
  pthread_join(thread, &told);
  expect(told == &value && g_destroyed == 10, 16);
  return 0;
}
