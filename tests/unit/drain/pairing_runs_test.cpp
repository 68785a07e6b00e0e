// Plain records are taken many at once (pairing_calls.cpp): what comes of them is the same as one by one, by
// the rules of pairing.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/drain/paired.hpp"

extern "C" {
[[gnu::noinline]] int runs_told(int x) {
  return x + 3;
}
[[gnu::noinline]] int runs_hidden(int x) {
  return x + 4;
}
}

namespace jitquill::tests {
namespace {

using lanes::RecordKind;

constexpr std::uint64_t kOwnTop = 0x7f00'0000'0000;
constexpr std::uint64_t kOwnSize = 0x100'0000;
constexpr std::uint64_t kFiberTop = kOwnTop - 0x40'0000;  // an array on the thread's own
constexpr std::uint64_t kFiberSize = 0x1'0000;

std::uint64_t address_of(int (*function)(int)) {
  return reinterpret_cast<std::uint64_t>(function);
}

// Calls with some of everything else; ends that were never entered among them.
class Records {
 public:
  explicit Records(std::uint64_t seed, bool has_natives) : random_(seed), has_natives_(has_natives) {}

  drain::Taken next() {
    ticks_ += random_() % 3;
    const std::uint64_t dice = random_() % 1000;
    if (dice < 4) on_fiber_ = !on_fiber_;
    if (dice < 8) return of_key(RecordKind::kEnterKey);
    if (dice < 12) return of_key(RecordKind::kLeaveKey);
    std::vector<std::uint64_t>& open = on_fiber_ ? fiber_ : own_;
    if (dice < 20 && open.size() > 2) open.resize(open.size() - 2);  // removed, and nobody said so
    if (dice < 24) return {ticks_, 0, lanes::slot_of(top() - 8 * (random_() % 4000)), 0, RecordKind::kLeave};
    if (open.size() < 2 || (open.size() < 40 && random_() % 2 == 0)) return enter(open);
    const std::uint32_t slot = lanes::slot_of(open.back());
    const bool is_tail = random_() % 8 == 0;
    open.pop_back();
    return {ticks_, 0, slot, 0, is_tail ? RecordKind::kTail : RecordKind::kLeave};
  }

 private:
  std::uint64_t top() const { return on_fiber_ ? kFiberTop : kOwnTop; }
  drain::Taken enter(std::vector<std::uint64_t>& open) {
    open.push_back((open.empty() ? top() : open.back()) - 8 * (1 + random_() % 8));
    const std::uint32_t slot = lanes::slot_of(open.back());
    if (!has_natives_ || random_() % 2 == 0)
      return {ticks_, 1 + random_() % (CodeOfFunctions::kCount + 2), slot, 0, RecordKind::kEnter};
    const std::uint64_t address = address_of(random_() % 2 == 0 ? runs_told : runs_hidden);
    return {ticks_, address, slot, 0, RecordKind::kEnterAddress};
  }
  drain::Taken of_key(RecordKind kind) {
    return {ticks_, 1 + random_() % 4, static_cast<std::uint32_t>(random_() % 3), 0, kind};
  }

  std::mt19937_64 random_;
  bool has_natives_;
  bool on_fiber_ = false;
  std::uint64_t ticks_ = 1'000;
  std::vector<std::uint64_t> own_, fiber_;
};

// Functions have the same numbers, whatever order they are asked for in.
void prepare(Paired& paired, bool has_natives) {
  paired.know_functions();
  paired.functions.watch_this_process();
  paired.functions.set_patterns("*,!*_hidden");
  for (std::uint64_t id = 1; id <= CodeOfFunctions::kCount; ++id) (void)paired.functions.by_id(id);
  if (has_natives) {
    (void)paired.functions.by_address(address_of(runs_told), 1);
    ASSERT_EQ(paired.functions.by_address(address_of(runs_hidden), 1), drain::Functions::kHidden);
  }
  paired.learn(kOwnTop - kOwnSize, kOwnTop, drain::StackKind::kOwn);
  paired.learn(kFiberTop - kFiberSize, kFiberTop, drain::StackKind::kFiber);
}

// A clock that has changed since has no line for many: nothing is plain then.
void put_one_by_one(Paired& paired, const std::vector<drain::Taken>& records, std::uint64_t& later) {
  for (const drain::Taken& record : records) {
    ASSERT_TRUE(paired.clock.add(later, later));
    ++later;
    paired.take({record});
  }
}

std::string words_of(const RunEvent& e) {
  std::string words;
  for (const std::uint64_t v :
       {std::uint64_t{static_cast<std::uint8_t>(e.kind)}, e.when_ns, e.since_ns, e.amount,
        std::uint64_t{e.function}, std::uint64_t{e.depth}, std::uint64_t{static_cast<std::uint8_t>(e.end)},
        std::uint64_t{e.stack}, std::uint64_t{e.reserved}})
    words += std::to_string(v) + " ";
  return words;
}

void expect_same(std::uint64_t seed, bool has_natives) {
  Paired together, apart;
  prepare(together, has_natives);
  prepare(apart, has_natives);
  Records records(seed, has_natives);
  std::mt19937_64 random(seed);
  std::uint64_t later = 1'000'000'000;
  for (int commit = 0; commit < 12; ++commit) {
    std::vector<drain::Taken> some;
    for (std::uint64_t left = 1 + random() % 1'500; left != 0; --left) some.push_back(records.next());
    together.take(some);
    put_one_by_one(apart, some, later);
    Bytes state_together, state_apart;
    together.pairing.put_changes(state_together);
    apart.pairing.put_changes(state_apart);
    ASSERT_TRUE(std::ranges::equal(state_together.view(), state_apart.view())) << "commit " << commit;
  }
  EXPECT_EQ(together.pairing.calls(), apart.pairing.calls());
  EXPECT_EQ(together.pairing.unpaired(), apart.pairing.unpaired());
  const auto& events = together.events();
  ASSERT_EQ(events.size(), apart.events().size());
  for (std::size_t i = 0; i < events.size(); ++i)
    ASSERT_EQ(words_of(events[i]), words_of(apart.taken[i])) << i;
}

TEST(PairingRuns, AreWhatTheirRecordsAreOneByOne) {
  for (std::uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(seed, false);
  }
}

TEST(PairingRuns, OfNativeFunctionsToo) {
  for (std::uint64_t seed = 1; seed <= 8 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_same(seed, true);
  }
}

}  // namespace
}  // namespace jitquill::tests
