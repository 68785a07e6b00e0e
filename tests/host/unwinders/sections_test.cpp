// Many functions, in every order: few sections, no lost function, and threads that register while others
// throw.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "tests/host/unwinders/chain_code.hpp"

namespace jitquill::test {
namespace {

constexpr std::size_t kSpacing = 128;

int caught_from(const std::vector<void*>& functions) {
  const Link throw_7 = [](void**) { throw 7; };
  try {
    run(functions, throw_7);
  } catch (int value) {
    return value;
  }
  return 0;
}

// All functions of an order, then some of them run, then all unloaded in another order.
void load_all(const std::vector<std::size_t>& order, std::uint64_t max_sections) {
  CodeArena arena(order.size() * kSpacing);
  std::mt19937 random(1);
  for (const std::size_t i : order) place(arena, i * kSpacing, static_cast<std::uint32_t>(16 * (i % 8 + 1)));
  EXPECT_LE(open_sections(), max_sections);
  const auto any = [&] { return arena.at(random() % order.size() * kSpacing); };
  for (int i = 0; i < 200; ++i) ASSERT_EQ(caught_from({any(), any(), any()}), 7) << i;
  std::vector<std::size_t> other = order;
  std::shuffle(other.begin(), other.end(), random);
  for (const std::size_t i : other) jitquill_code_unloaded(arena.at(i * kSpacing));
  EXPECT_EQ(open_sections(), 0u);
}

std::vector<std::size_t> ascending(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  return order;
}

TEST(Sections, AHundredThousandFunctionsTakeTwentyFive) {
  load_all(ascending(100'000), 25);
}

TEST(Sections, DescendingAddressesTakeNoMore) {
  std::vector<std::size_t> order = ascending(20'000);
  std::reverse(order.begin(), order.end());
  load_all(order, 6);
}

TEST(Sections, RandomAddressesTakeAtMostThreeTimesAsMany) {
  std::vector<std::size_t> order = ascending(20'000);
  std::shuffle(order.begin(), order.end(), std::mt19937(3));
  load_all(order, 15);
}

// Blocks below each other, filled upward: how asmjit and malloc-like arenas give out code.
TEST(Sections, BlocksThatGrowDownwardTakeLittleMore) {
  std::vector<std::size_t> order;
  constexpr std::size_t kBlock = 500, kBlocks = 40;
  for (std::size_t block = kBlocks; block-- > 0;) {
    for (std::size_t i = 0; i < kBlock; ++i) order.push_back(block * kBlock + i);
  }
  load_all(order, 12);
}

// A model of a JIT under pressure: overlapping sizes at changing addresses, each checked by a throw.
TEST(Sections, ChurnLosesNoFunction) {
  constexpr std::size_t kPlaces = 16'384;
  CodeArena arena((kPlaces + 8) * 64);
  std::vector<std::uint32_t> frame_at(kPlaces, 0);  // 0: nothing begins there
  std::mt19937 random(7);
  for (int round = 0; round < 120'000; ++round) {
    const std::size_t place = random() % kPlaces;
    const std::size_t places = random() % 4 + 1;
    if (frame_at[place] != 0 && random() % 2 == 0) {
      jitquill_code_unloaded(arena.at(place * 64));
      frame_at[place] = 0;
      continue;
    }
    // Whatever it overlaps ends by itself: those that begin in it, and the one that reaches into it.
    for (std::size_t i = 0; i < places && place + i < kPlaces; ++i) frame_at[place + i] = 0;
    for (std::size_t i = 1; i <= 3 && i <= place; ++i) {
      if (frame_at[place - i] >> 16 > i) frame_at[place - i] = 0;
    }
    const auto frame = static_cast<std::uint32_t>(16 * (random() % 60 + 1));
    void* const entry = arena.write(place * 64, frame);
    ASSERT_EQ(announce(entry, frame, JITQUILL_CODE_REGISTER, places * 64), JITQUILL_OFF);
    frame_at[place] = frame | static_cast<std::uint32_t>(places) << 16;
    if (round % 64 != 0) continue;
    std::vector<void*> chain = {entry};
    for (int tries = 0; tries < 50 && chain.size() < 5; ++tries) {
      const std::size_t other = random() % kPlaces;
      if (frame_at[other] != 0) chain.push_back(arena.at(other * 64));
    }
    ASSERT_EQ(caught_from(chain), 7) << round;
  }
  for (std::size_t i = 0; i < kPlaces; ++i) jitquill_code_unloaded(arena.at(i * 64));
  EXPECT_EQ(open_sections(), 0u);
}

TEST(Sections, EightThreadsRegisterAndThrow) {
  constexpr std::size_t kThreads = 8, kRounds = 3'000, kOwn = 64;
  CodeArena arena(kThreads * kOwn * kSpacing);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      std::vector<void*> live;
      for (std::size_t round = 0; round < kRounds; ++round) {
        const std::size_t slot = round % kOwn;
        if (live.size() == kOwn) {
          jitquill_code_unloaded(live[slot]);
        } else {
          live.push_back(nullptr);
        }
        // Interleaved, so that the threads' functions share their sections.
        live[slot] =
            place(arena, (slot * kThreads + t) * kSpacing, static_cast<std::uint32_t>(16 * (round % 50 + 1)));
        if (caught_from({live[slot], live[round * 7 % live.size()], live[0]}) != 7) ++wrong;
      }
      for (void* const entry : live) jitquill_code_unloaded(entry);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(open_sections(), 0u);
}

TEST(Sections, AFunctionWithoutAFrameIsRefusedAndCounted) {
  CodeArena arena(4096);
  const std::uint64_t refused = counter("registrations_refused");
  jitquill_code code = {};
  code.struct_size = sizeof code;
  code.addr = arena.write(0, 16);
  code.size = kChainCodeSize;
  code.flags = JITQUILL_CODE_REGISTER;
  EXPECT_EQ(jitquill_code_loaded(&code, nullptr), JITQUILL_OFF);
  EXPECT_EQ(counter("registrations_refused"), refused + 1);
}

}  // namespace
}  // namespace jitquill::test
