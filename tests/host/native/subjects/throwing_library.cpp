#include "tests/host/native/subjects/throwing_library.hpp"

#include <stdexcept>

#include "tests/host/native/subjects/subject.h"

namespace {

int (*g_thrower)() = nullptr;

}  // namespace

CALL int call_within_library() {
  COUNT(call_within_library);
  const int inside = g_thrower();
  KEEP_FRAME;
  return inside + 1;
}
CALL int call_library_throw() {
  COUNT(call_library_throw);
  throw std::logic_error("of the library");
}
CALL int call_library_catch(int (*thrower)()) {
  COUNT(call_library_catch);
  try {
    return thrower();
  } catch (const std::exception&) {
    return -2;
  }
}

UNTRACED int throwing_library::through_and_back(int (*catcher)(int (*)()), int (*thrower)()) {
  g_thrower = thrower;
  return catcher(call_within_library);
}
UNTRACED int throwing_library::call_throws_from_library() {
  return call_library_throw();
}
UNTRACED int throwing_library::call_catches_in_library(int (*thrower)()) {
  return call_library_catch(thrower);
}
UNTRACED void throwing_library::tell() {
  tell_counts();
}
