// C++ exceptions pass through announced code, whichever unwinder the host has: the program is built with
// each.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/host/unwinders/chain_code.hpp"

namespace jitquill::test {
namespace {

struct Thrown {
  int value;
};

[[noreturn]] void throw_42(void**) {
  throw Thrown{42};
}

// The value that arrives; 0: nothing was thrown. Locals in preserved registers must be right afterwards.
int caught_from(const std::vector<void*>& functions, int salt) {
  int kept = salt * 3;
  try {
    run(functions, &throw_42);
  } catch (const Thrown& thrown) {
    return kept == salt * 3 ? thrown.value : -1;
  }
  return 0;
}

TEST(Exceptions, PassThroughOneTwoAndThirtyFrames) {
  CodeArena arena(1 << 16);
  for (const std::size_t depth : {1u, 2u, 30u}) {
    std::vector<void*> chain;
    for (std::size_t i = 0; i < depth; ++i)
      chain.push_back(place(arena, i * 64, static_cast<std::uint32_t>(16 * (i + 1))));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(caught_from(chain, i), 42) << depth;
    for (void* const entry : chain) jitquill_code_unloaded(entry);
  }
  EXPECT_EQ(open_sections(), 0u);
}

// The other tests mean something only if this one holds.
TEST(Exceptions, DoNotPassWithoutTheFlag) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        CodeArena arena(4096);
        (void)caught_from({place(arena, 0, 32, 0)}, 1);
      },
      "");
}

TEST(Exceptions, AreRightWhenTheAddressHasAnotherFrame) {
  CodeArena arena(1 << 16);
  for (std::uint32_t round = 0; round < 500; ++round) {
    const std::uint32_t frame = 16 * (round * 7 % 60 + 1);
    void* const entry = place(arena, 64 * (round % 5), frame);
    ASSERT_EQ(caught_from({entry, entry}, static_cast<int>(round)), 42) << round;
    ASSERT_EQ(jitquill_code_unloaded(entry), JITQUILL_OFF);
  }
  EXPECT_EQ(open_sections(), 0u);
}

TEST(Exceptions, AreRightWhenNewCodeOverlapsOldWithoutAnUnload) {
  CodeArena arena(1 << 16);
  for (std::uint32_t round = 0; round < 200; ++round) {
    void* const entry = place(arena, 8 * (round * 13 % 100), 16 * (round % 50 + 1));
    ASSERT_EQ(caught_from({entry}, static_cast<int>(round)), 42) << round;
  }
  for (std::size_t offset = 0; offset < 1024; ++offset) jitquill_code_unloaded(arena.at(offset));
  EXPECT_EQ(open_sections(), 0u);
}

TEST(Exceptions, FollowCodeThatMoves) {
  CodeArena arena(1 << 16);
  void* const before = place(arena, 0, 48);
  void* const after = arena.write(4096 + 64, 48);
  jitquill_code_moved(before, after, 0);
  EXPECT_EQ(caught_from({after}, 1), 42);
  void* const other = place(arena, 0, 160);  // where it was
  EXPECT_EQ(caught_from({after, other, after}, 1), 42);
  jitquill_code_unloaded(after);
  jitquill_code_unloaded(other);
  EXPECT_EQ(open_sections(), 0u);
}

TEST(Exceptions, StillPassInAForkedChild) {
  CodeArena arena(1 << 16);
  void* const old_code = place(arena, 0, 48);
  const pid_t child = fork();
  if (child == 0) {
    void* const new_code = place(arena, 64, 80);
    const bool right = caught_from({old_code, new_code}, 1) == 42 &&
                       (jitquill_code_unloaded(old_code), caught_from({new_code}, 1)) == 42;
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(caught_from({old_code}, 1), 42);
  jitquill_code_unloaded(old_code);
}

// Children that are forked while another thread is registering: their tables are whole.
TEST(Exceptions, PassInChildrenForkedAmongRegistrations) {
  CodeArena arena(1 << 16);
  void* const old_code = place(arena, 0, 48);
  std::atomic<bool> is_done{false};
  std::thread busy([&] {
    for (std::uint32_t round = 0; !is_done; ++round)
      place(arena, 4096 + 64 * (round % 100), 16 * (round % 50 + 1));
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      void* const new_code = place(arena, 64, 80);
      _exit(caught_from({old_code, new_code}, 1) == 42 ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0) << i;
  }
  is_done = true;
  busy.join();
  for (std::size_t slot = 0; slot < 200; ++slot) jitquill_code_unloaded(arena.at(slot * 64));
  EXPECT_EQ(open_sections(), 0u);
}

}  // namespace
}  // namespace jitquill::test
