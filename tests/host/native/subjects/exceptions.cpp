// Exceptions of every kind through traced functions: caught, rethrown, taken to another thread, out of a
// static's constructor, past destructors that throw, through another library and back, and where none may
// pass.
#include <pthread.h>
#include <sys/wait.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "tests/host/native/subjects/subject.h"
#include "tests/host/native/subjects/throwing_library.hpp"

namespace {

int g_destroyed = 0;
struct Guard {
  UNTRACED Guard() {}
  UNTRACED ~Guard() { ++g_destroyed; }
};

}  // namespace

CALL int call_thrower(int depth) {
  COUNT(call_thrower);
  const Guard guard;
  if (depth == 0) throw std::runtime_error("thrown");
  const int inside = call_thrower(depth - 1);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_rethrower(int depth) {
  COUNT(call_rethrower);
  try {
    return call_thrower(depth) + 1;
  } catch (...) {
    throw;
  }
}
CALL int call_catcher(int depth) {
  COUNT(call_catcher);
  try {
    return call_rethrower(depth);
  } catch (const std::exception& thrown) {
    return thrown.what() == std::string("thrown") ? -7 : 0;
  }
}

// A handler that throws another, with calls in between.
CALL int call_changer() {
  COUNT(call_changer);
  try {
    return call_thrower(2);
  } catch (const std::exception&) {
    if (call_catcher(1) != -7) fail(__LINE__);
    throw 8;
  }
}
CALL int call_nested() {
  COUNT(call_nested);
  try {
    return call_changer();
  } catch (int value) {
    return value;
  }
}

// Another exception comes and goes in a destructor while the first one passes.
struct Busy {
  UNTRACED Busy() {}
  ~Busy() { g_result = call_catcher(3); }
  static int g_result;
};
int Busy::g_result = 0;
CALL int call_past_busy() {
  COUNT(call_past_busy);
  const Busy busy;
  const int inside = call_thrower(1);
  KEEP_FRAME;
  return inside + 1;
}

// The first two attempts fail.
CALL int call_made(int attempt) {
  COUNT(call_made);
  if (attempt < 2) call_thrower(1);
  return 40 + attempt;
}
CALL int call_static(int attempt) {
  COUNT(call_static);
  static const int made = call_made(attempt);
  return made;
}

CALL int call_any(int (*function)()) {
  COUNT(call_any);
  try {
    return function();
  } catch (...) {
    return -1;
  }
}

namespace {

UNTRACED void* rethrow_here(void* thrown) {
  struct Inner {
    static int call(std::exception_ptr* what) {
      try {
        std::rethrow_exception(*what);
      } catch (const std::exception&) {
        return call_catcher(2);
      }
    }
  };
  return Inner::call(static_cast<std::exception_ptr*>(thrown)) == -7 ? thrown : nullptr;
}

UNTRACED void take_to_another_thread() {
  std::exception_ptr caught;
  try {
    call_thrower(4);
  } catch (...) {
    caught = std::current_exception();
  }
  pthread_t thread;
  void* told = nullptr;
  EXPECT(pthread_create(&thread, nullptr, rethrow_here, &caught) == 0);
  EXPECT(pthread_join(thread, &told) == 0 && told == &caught);
}

// ---- Where none may pass: in a child, whose terminate handler says that it came ----

[[noreturn]] UNTRACED void terminated() {
  _exit(3);
}
struct Late {
  UNTRACED Late() {}
  ~Late() noexcept(false) { call_thrower(0); }
};

}  // namespace

CALL int call_noexcept() noexcept {
  COUNT(call_noexcept);
  const int inside = call_thrower(3);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_throwing_twice() {
  COUNT(call_throwing_twice);
  const Late late;
  const int inside = call_thrower(0);
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_uncaught() {
  COUNT(call_uncaught);
  const int inside = call_thrower(0);
  KEEP_FRAME;
  return inside + 1;
}

namespace {

UNTRACED void expect_terminates(int (*function)()) {
  const pid_t child = fork();
  if (child == 0) {
    std::set_terminate(terminated);
    function();
    _exit(4);
  }
  int status = 0;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

UNTRACED void all() {
  g_destroyed = 0;
  EXPECT(call_catcher(30) == -7 && g_destroyed == 31);
  EXPECT(call_nested() == 8 && g_destroyed == 31 + 3 + 2);
  EXPECT(call_any(call_past_busy) == -1 && Busy::g_result == -7);
  EXPECT(throwing_library::through_and_back(call_any, call_uncaught) == -1);
  EXPECT(call_any(throwing_library::call_throws_from_library) == -1);
  EXPECT(throwing_library::call_catches_in_library(call_uncaught) == -2);
  take_to_another_thread();
}

}  // namespace

UNTRACED int main(int argc, char** argv) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    bool has_thrown = false;
    try {
      call_static(attempt);
    } catch (const std::exception&) {
      has_thrown = true;
    }
    EXPECT(has_thrown);
  }
  EXPECT(call_static(2) == 42 && call_static(3) == 42);
  const unsigned rounds = 20 * scale(argc, argv);
  for (unsigned i = 0; i < rounds; ++i) all();
  for (unsigned i = 0; i < 50 * rounds; ++i) EXPECT(call_catcher(5) == -7);
  expect_terminates(call_noexcept);
  expect_terminates(call_throwing_twice);
  expect_terminates(call_uncaught);
  tell_counts();
  throwing_library::tell();
  return 0;
}
