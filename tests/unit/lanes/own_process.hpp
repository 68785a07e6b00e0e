// Runs the body of a test in a process of its own: a pool lives as long as its process.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace lanes_test {

inline constexpr int kSkipped = 77;

// The child's failed expectations are printed by it, and fail the test here.
template <class Body>
void in_own_process(Body body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "this is not allowed here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace lanes_test
