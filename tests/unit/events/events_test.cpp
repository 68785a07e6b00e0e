// What each function of events.h packs is what the table says, and what its view reads again.
#include <gtest/gtest.h>
#include <jitquill/events.h>

#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/unit/events/own_agent.hpp"
#include "writer/model/runtime_event.hpp"

namespace jitquill {
namespace {

constexpr unsigned kSeed = 20261201;
constexpr int kRounds = 100;

std::mt19937_64 random_bits(kSeed);

std::string random_text() {
  const char* const kPieces[] = {
      "a", "Z", " ", "/", "*/", "\"", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8C\xB2"};
  std::string text;
  for (std::uint64_t i = random_bits() % 40; i > 0; --i) text += kPieces[random_bits() % std::size(kPieces)];
  return text;
}

// What a call passed, as it should come out.
struct Expected {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint8_t> packed;
  std::string text;
};

template <class Parameter>
Parameter pass(Expected& expected) {
  if constexpr (std::is_same_v<Parameter, const char*>) {
    expected.text = random_text();
    return expected.text.c_str();
  } else if constexpr (std::is_enum_v<Parameter>) {
    const std::uint64_t word = random_bits() % 4;  // in the range of the smallest
    expected.numbers.push_back(word);
    expected.packed.push_back(static_cast<std::uint8_t>(word));
    return static_cast<Parameter>(word);
  } else {
    // Small ones and large ones; all widths have their highest bit now and then.
    const auto value = static_cast<Parameter>(random_bits() >> random_bits() % 64);
    using Bits = std::make_unsigned_t<Parameter>;
    expected.numbers.push_back(static_cast<Bits>(value));
    for (std::size_t i = 0; i < sizeof value; ++i)
      expected.packed.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> 8 * i));
    return value;
  }
}

template <class... Parameters>
Expected call(jitquill_status (*tell)(Parameters...)) {
  Expected expected;
  const std::tuple<Parameters...> values{pass<Parameters>(expected)...};  // in their order
  EXPECT_EQ(std::apply(tell, values), JITQUILL_OK);
  return expected;
}

Expected call(jitquill_status (*tell)(const void*, std::size_t)) {
  Expected expected;
  expected.text = random_text() + std::string("\0\xFF", 2);
  EXPECT_EQ(tell(expected.text.data(), expected.text.size()), JITQUILL_OK);
  return expected;
}

std::uint64_t narrowed(FieldType type, std::uint64_t value) {
  switch (type) {
    case FieldType::kWord:
    case FieldType::kU8:
      return static_cast<std::uint8_t>(value);
    case FieldType::kU16:
      return static_cast<std::uint16_t>(value);
    case FieldType::kU32:
      return static_cast<std::uint32_t>(value);
    default:
      return value;
  }
}

void expect_told(RuntimeEventKind kind, const Expected& expected) {
  const auto told = own_agent::take();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].event, static_cast<std::uint32_t>(kind));
  auto packed = expected.packed;
  packed.insert(packed.end(), expected.text.begin(), expected.text.end());
  EXPECT_EQ(told[0].payload, packed);
  const RuntimeEvent event({told[0].event, told[0].payload});
  ASSERT_NE(event.row(), nullptr);
  EXPECT_EQ(event.row()->kind, kind);
  EXPECT_EQ(event.text(), expected.text);
  const auto fields = event.row()->fields;
  for (std::size_t i = 0; i < expected.numbers.size(); ++i) {
    ASSERT_LT(i, fields.size());
    EXPECT_EQ(narrowed(fields[i].type, expected.numbers[i]), expected.numbers[i]) << fields[i].name;
    EXPECT_EQ(event.number(i), expected.numbers[i]) << fields[i].name;
  }
  const bool has_text = !fields.empty() && fields.back().type >= FieldType::kText;
  EXPECT_EQ(fields.size(), expected.numbers.size() + (has_text ? 1 : 0));
}

class Events : public testing::Test {
 protected:
  void SetUp() override {
    own_agent::want(true);
    (void)own_agent::take();
  }
};

TEST_F(Events, ComeOutAsTheyWerePacked) {
  for (int round = 0; round < kRounds; ++round) {
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields)                    \
  {                                                                                         \
    SCOPED_TRACE(#c_name);                                                                  \
    ASSERT_NO_FATAL_FAILURE(expect_told(RuntimeEventKind::name, call(&jitquill_##c_name))); \
  }
#include "writer/model/runtime_event.def"
  }
}

TEST_F(Events, AreNotToldWhileNobodyWantsThem) {
  own_agent::want(false);
  EXPECT_EQ(jitquill_wants_events(), 0);
  EXPECT_EQ(jitquill_gc_begin(1), JITQUILL_OFF);
  EXPECT_EQ(jitquill_gc_end(), JITQUILL_OFF);
  EXPECT_EQ(jitquill_marker("m"), JITQUILL_OFF);
  EXPECT_EQ(jitquill_thread_named(1, "t"), JITQUILL_OFF);
  EXPECT_EQ(jitquill_binary_message("b", 1), JITQUILL_OFF);
  EXPECT_TRUE(own_agent::take().empty());
  own_agent::want(true);
  EXPECT_EQ(jitquill_wants_events(), 1);
  EXPECT_EQ(jitquill_gc_begin(1), JITQUILL_OK);
  EXPECT_EQ(own_agent::take().size(), 1u);
}

TEST_F(Events, HaveTheWordsOfTheHeader) {
#define EVENT_WORD(set, name, C_NAME, number, words, meaning) EXPECT_EQ(word_of(WordSet::set, number), words);
#include "writer/model/runtime_event.def"
  EXPECT_EQ(event_word::kStopReason::kSleep, JITQUILL_STOP_SLEEP);
  EXPECT_EQ(event_word::kGcPhase::kSweep, JITQUILL_GC_SWEEP);
}

}  // namespace
}  // namespace jitquill
