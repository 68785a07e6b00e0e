// Every event of the table, with any values, as the reader that was written from the specification
// understands it; and what becomes of values that do not fit.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/readers/eventlog/reader.hpp"
#include "writer/bytes/utf8.hpp"
#include "writer/eventlog/record.hpp"

namespace jitquill::eventlog {
namespace {

using std::string_view;

constexpr Owner kAll[] = {Owner::kGhc, Owner::kGhcRetired, Owner::kEden, Owner::kMercury, Owner::kPerfTools};
constexpr int kRounds = 20;

std::mt19937_64 random_bits(20261201);

// What was put, and what of it the reader is to find.
struct Values {
  std::vector<std::uint64_t> numbers;
  std::vector<std::string> texts;
  std::vector<std::string> kept;  // texts, while they are referred to
  std::vector<std::vector<string_view>> views;
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<std::vector<std::uint32_t>> lists;
};

std::string random_text() {
  const char* const kPieces[] = {"a", "Z", " ", "\n", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8C\xB2"};
  std::string text;
  for (std::uint64_t i = random_bits() % 12; i > 0; --i) text += kPieces[random_bits() % std::size(kPieces)];
  return text;
}

template <class Value>
Value make(Values& all) {
  if constexpr (std::is_integral_v<Value>) {
    const auto value = static_cast<Value>(random_bits() >> random_bits() % 64);
    all.numbers.push_back(value);
    return value;
  } else if constexpr (std::is_same_v<Value, string_view>) {
    all.texts.push_back(random_text());
    return all.kept.emplace_back(all.texts.back());
  } else if constexpr (std::is_same_v<Value, std::span<const std::uint8_t>>) {
    auto& bytes = all.bytes.emplace_back();
    for (std::uint64_t i = random_bits() % 50; i > 0; --i)
      bytes.push_back(static_cast<std::uint8_t>(random_bits()));
    all.texts.emplace_back(bytes.begin(), bytes.end());
    return bytes;
  } else if constexpr (std::is_same_v<Value, std::span<const std::uint32_t>>) {
    auto& list = all.lists.emplace_back(random_bits() % 256);
    all.numbers.push_back(list.size());
    for (std::uint32_t& number : list)
      all.numbers.push_back(number = static_cast<std::uint32_t>(random_bits()));
    return list;
  } else {
    auto& views = all.views.emplace_back();
    for (std::uint64_t i = random_bits() % 5; i > 0; --i) {
      all.texts.push_back("x" + random_text());
      views.push_back(all.kept.emplace_back(all.texts.back()));
    }
    return views;
  }
}

template <Event kEvent, FieldType... kTypes>
void put_random(Fields<kTypes...>, std::uint64_t when_ns, Bytes& out, Values& all) {
  all.kept.reserve(64);  // so that they stay where they are
  const std::tuple<typename ValueOf<kTypes>::type...> values{make<typename ValueOf<kTypes>::type>(all)...};
  const auto put_all = [&](const auto&... value) { return put<kEvent>(when_ns, out, value...); };
  EXPECT_EQ(std::apply(put_all, values), Status::kOk);
}

eventlog_reader::File read_back(const Bytes& out) {
  return eventlog_reader::read({reinterpret_cast<const char*>(out.view().data()), out.size()});
}

// Only one of each of these rules matters here: what the values say is random.
bool is_about_meaning(eventlog_reader::Rule rule) {
  using eventlog_reader::Rule;
  return rule == Rule::kBlock || rule == Rule::kCapability || rule == Rule::kStopStatus ||
         rule == Rule::kThreadOrder;
}

// All events that readers of a level know, in a log for them.
void expect_read_as_put(Level level) {
  Bytes out;
  put_header(kAll, out, level);
  std::vector<Values> put_values;
  std::vector<string_view> names;
  std::uint64_t when_ns = 0;
  for (int round = 0; round < kRounds; ++round) {
#define PUT(name, NAME)                                                                        \
  put_random<Event::name>(LayoutOf<Event::name>{}, ++when_ns, out, put_values.emplace_back()); \
  names.push_back(#NAME);
#define EVENTLOG_EVENT(name, NAME, number, owner, text, ...)                    \
  if (Event::name != Event::kBlockMarker && Owner::owner != Owner::kJitquill) { \
    PUT(name, NAME)                                                             \
  }
#define EVENTLOG_NEWER(name, NAME, number, owner, since, text, ...) \
  if (level >= Level::since) {                                      \
    PUT(name, NAME)                                                 \
  }
#define EVENTLOG_OLDER(name, NAME, number, owner, until, text, ...) \
  if (level <= Level::until) {                                      \
    PUT(name, NAME)                                                 \
  }
#include "writer/eventlog/event.def"
#undef EVENTLOG_EVENT
#undef PUT
  }
  put_end(out);
  ASSERT_FALSE(out.failed());
  const auto file = read_back(out);
  for (const auto& violation : file.violations)
    ASSERT_TRUE(is_about_meaning(violation.rule)) << eventlog_reader::describe({violation});
  EXPECT_EQ(file.types.size(), names.size() / kRounds + 1);
  ASSERT_EQ(file.events.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(file.events[i].name, names[i]);
    EXPECT_EQ(file.events[i].when_ns, i + 1);
    EXPECT_EQ(file.events[i].numbers, put_values[i].numbers) << names[i];
    EXPECT_EQ(file.events[i].texts, put_values[i].texts) << names[i];
  }
}

TEST(Eventlog, IsReadAsItWasPut) {
  for (const Level level : {Level::k9_0, Level::k9_4, Level::k9_12}) expect_read_as_put(level);
}

TEST(Eventlog, OfTwoCapabilitiesIsValid) {
  Bytes out;
  constexpr Owner kGhc[] = {Owner::kGhc};
  put_header(kGhc, out);
  for (const std::uint16_t capability : {std::uint16_t{0}, std::uint16_t{1}}) {
    Block block(10, capability, out);
    (void)put<Event::kCreateThread>(11, out, std::uint32_t{capability + 1u});
    (void)put<Event::kRunThread>(12, out, std::uint32_t{capability + 1u});
    (void)put<Event::kStopThread>(13, out, std::uint32_t{capability + 1u}, std::uint16_t{5},
                                  std::uint32_t{0});
    block.close(14);
  }
  put_end(out);
  const auto file = read_back(out);
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.named("RUN_THREAD").at(1).capability, 1u);
}

std::uint16_t payload_size(const Bytes& out) {
  return static_cast<std::uint16_t>(out.view()[10] << 8 | out.view()[11]);
}

TEST(Eventlog, CutsTextsBetweenCharactersWhereAPayloadIsFull) {
  std::string euros;
  for (int i = 0; i < 30'000; ++i) euros += "\xE2\x82\xAC";
  Bytes out;
  EXPECT_EQ(put<Event::kUserMsg>(1, out, string_view(euros)), Status::kTextCut);
  EXPECT_EQ(payload_size(out), 65'535u);  // 3 * 21,845
  EXPECT_EQ(out.size(), 12u + 65'535u);
  out.clear();
  EXPECT_EQ(put<Event::kThreadLabel>(1, out, std::uint32_t{1}, string_view(euros)), Status::kTextCut);
  EXPECT_EQ(payload_size(out), 65'533u);  // 4 + 3 * 21,843
  out.clear();
  EXPECT_EQ(put<Event::kInternString>(1, out, string_view(euros), std::uint32_t{7}), Status::kTextCut);
  EXPECT_EQ(payload_size(out), 65'533u);
  EXPECT_EQ(out.view().back(), 7u);
  out.clear();
  EXPECT_EQ(put<Event::kHeapProfCostCentre>(1, out, std::uint32_t{1}, string_view(euros), string_view(euros),
                                            string_view("x"), std::uint8_t{9}),
            Status::kTextCut);
  EXPECT_EQ(payload_size(out), out.size() - 12);
  EXPECT_EQ(out.view().back(), 9u);  // what is behind has its room
}

TEST(Eventlog, KeepsAsManyWholeArgumentsAsFit) {
  const std::string large(40'000, 'x');
  const string_view args[] = {large, "between", large, "behind"};
  Bytes out;
  EXPECT_EQ(put<Event::kProgramArgs>(1, out, std::uint32_t{0}, std::span<const string_view>(args)),
            Status::kTextCut);
  EXPECT_EQ(payload_size(out), 4u + 40'001u + 8u);
}

TEST(Eventlog, RefusesBytesThatDoNotFitAndKeepsTheInnermostOfAStack) {
  const std::vector<std::uint8_t> bytes(65'536);
  Bytes out;
  out.u8(1);
  EXPECT_EQ(put<Event::kUserBinaryMsg>(1, out, std::span<const std::uint8_t>(bytes)), Status::kTooLarge);
  EXPECT_EQ(out.size(), 1u);
  out.clear();
  EXPECT_EQ(put<Event::kUserBinaryMsg>(1, out, std::span<const std::uint8_t>(bytes).first(65'535)),
            Status::kOk);
  EXPECT_EQ(payload_size(out), 65'535u);
  out.clear();
  const std::vector<std::uint32_t> stack(300, 5);
  EXPECT_EQ(put<Event::kProfSampleCostCentre>(1, out, std::uint32_t{0}, std::uint64_t{0},
                                              std::span<const std::uint32_t>(stack)),
            Status::kTextCut);
  EXPECT_EQ(payload_size(out), 13u + 4u * 255u);
}

TEST(Eventlog, EndsATextAtANulWhereOneEndsAField) {
  Bytes out;
  constexpr Owner kGhc[] = {Owner::kGhc};
  put_header(kGhc, out);
  EXPECT_EQ(
      put<Event::kHeapProfSampleString>(1, out, std::uint8_t{0}, std::uint64_t{1}, string_view("a\0b", 3)),
      Status::kTextCut);
  EXPECT_EQ(put<Event::kUserMsg>(2, out, string_view("a\0b", 3)), Status::kOk);
  put_end(out);
  const auto file = read_back(out);
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(file.events.at(0).texts.at(0), "a");
  EXPECT_EQ(file.events.at(1).texts.at(0), std::string("a\0b", 3));
}

TEST(Eventlog, LeavesWhatIsThereWhereABufferIsFull) {
  std::uint8_t room[11];
  Bytes out(room);
  EXPECT_EQ(put<Event::kGcStart>(0x0102, out), Status::kOk);
  const std::vector<std::uint8_t> before(out.view().begin(), out.view().end());
  (void)put<Event::kUserMarker>(3, out, string_view("m"));
  EXPECT_TRUE(out.failed());
  EXPECT_EQ(std::vector(out.view().begin(), out.view().end()), before);
}

std::string cleaned(string_view text, std::size_t most = 1000) {
  Bytes out;
  (void)put_utf8(out, text, most);
  return {out.view().begin(), out.view().end()};
}

TEST(Utf8, ReplacesWhatIsNone) {
  EXPECT_EQ(cleaned("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\xB2\n"), "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8C\xB2\n");
  EXPECT_EQ(cleaned("\xC3"), "?");
  EXPECT_EQ(cleaned("a\xC0\x80z"), "a??z");        // longer than needed
  EXPECT_EQ(cleaned("\xED\xA0\x80"), "???");       // a surrogate
  EXPECT_EQ(cleaned("\xF4\x90\x80\x80"), "????");  // above U+10FFFF
  EXPECT_EQ(cleaned("\xE2\x82"), "??");            // cut
  EXPECT_EQ(cleaned("\xE2\x82\xC3\xA4"), "??\xC3\xA4");
  EXPECT_EQ(cleaned("ab\xC3\xA4", 3), "ab");
  EXPECT_EQ(cleaned("ab\xFF", 2), "ab");
}

TEST(Utf8, IsValidWhateverTheBytesAre) {
  Bytes out;
  constexpr Owner kGhc[] = {Owner::kGhc};
  put_header(kGhc, out);
  for (int round = 0; round < 3'000; ++round) {
    std::string text;
    for (std::uint64_t i = random_bits() % 12; i > 0; --i) {
      constexpr unsigned char kFirst[] = {0x41, 0x80, 0xA0, 0xBF, 0xC3, 0xE0,
                                          0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF};
      text += static_cast<char>(random_bits() % 2 != 0 ? kFirst[random_bits() % 12] : random_bits() & 0xFF);
    }
    const std::size_t most = random_bits() % 14;
    ASSERT_LE(cleaned(text, most).size(), most);
    ASSERT_EQ(cleaned(cleaned(text)), cleaned(text));
    (void)put<Event::kUserMsg>(1, out, string_view(text));
    (void)put<Event::kUserMsg>(1, out, string_view(cleaned(text, most)));
  }
  put_end(out);
  EXPECT_EQ(describe(read_back(out).violations), "");
}

}  // namespace
}  // namespace jitquill::eventlog
