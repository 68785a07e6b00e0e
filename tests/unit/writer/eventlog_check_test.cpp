// What `jitquill check` says of eventlogs: nothing of whole ones, and of damaged ones what is wrong.
#include "writer/eventlog/check.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "writer/eventlog/event_table.hpp"
#include "writer/eventlog/log_walk.hpp"
#include "writer/eventlog/record.hpp"

namespace jitquill::eventlog {
namespace {

using std::string_view;
using File = std::vector<std::uint8_t>;

constexpr Owner kOwners[] = {Owner::kGhc, Owner::kJitquill};

void put_thread(Bytes& out, std::uint16_t capability) {
  Block block(1, capability, out);
  (void)put<Event::kCreateThread>(2, out, std::uint32_t{1});
  (void)put<Event::kThreadLabel>(3, out, std::uint32_t{1}, string_view("m\xC3\xA4in"));
  (void)put<Event::kUserMsg>(4, out, string_view("hello"));
  block.close(4);
}

File file_of(const Bytes& out) {
  return {out.view().begin(), out.view().end()};
}

File good() {
  Bytes out;
  put_header(kOwners, out);
  put_thread(out, 0);
  put_end(out);
  return file_of(out);
}

std::vector<LogRule> rules(const File& file) {
  LogCheck result;
  check(file, result);
  std::vector<LogRule> all;
  for (const LogFinding& finding : result.findings.all()) all.push_back(finding.rule);
  return all;
}
using Rules = std::vector<LogRule>;

File with(const File& file, string_view what, string_view instead) {
  File changed = file;
  const auto at = std::search(changed.begin(), changed.end(), what.begin(), what.end());
  EXPECT_NE(at, changed.end());
  std::copy(instead.begin(), instead.end(), at);
  return changed;
}

TEST(EventlogCheck, SaysNothingOfAWholeLog) {
  EXPECT_EQ(rules(good()), Rules{});
}

TEST(EventlogCheck, AsksNothingOfNumbersBetweenTexts) {
  Bytes out;
  put_header(kOwners, out);
  Block block(1, 0, out);
  (void)put<Event::kTickyCounterDef>(2, out, std::uint64_t{1}, std::uint16_t{0}, string_view(),
                                     string_view("main"), std::uint64_t{0xB0'80'FF'00'C0'80},
                                     string_view("{json}"));
  block.close(2);
  put_end(out);
  EXPECT_EQ(rules(file_of(out)), Rules{});
  EXPECT_EQ(rules(with(file_of(out), "{json}", "{\xFFson}")), Rules{LogRule::kUtf8});
}

TEST(EventlogCheck, SaysWhatIsWrong) {
  EXPECT_EQ(rules({}), Rules{LogRule::kHeader});
  EXPECT_EQ(rules(with(good(), "hete", "hetX")), Rules{LogRule::kHeader});
  EXPECT_EQ(rules(with(good(), "hello", "he\xFFlo")), Rules{LogRule::kUtf8});
  EXPECT_EQ(rules(with(good(), string_view("\0\x13\0\0\0\0", 6), string_view("\7\x13\0\0\0\0", 6))),
            Rules{LogRule::kUndeclared});
  Bytes outside;
  put_header(kOwners, outside);
  put_thread(outside, kNoCapability);
  put_end(outside);
  EXPECT_EQ(rules(file_of(outside)), Rules{LogRule::kPlace});
  File longer = good();
  longer.push_back(0);
  EXPECT_EQ(rules(longer), Rules{LogRule::kBlock});
}

// ghc-events 0.17 takes it for a text where it shows it, though the format does not.
TEST(EventlogCheck, NotesABinaryMessageThatIsNoText) {
  for (const string_view message : {string_view("m\xC3\xA4in"), string_view("\xFF")}) {
    Bytes out;
    put_header(kOwners, out);
    Block block(1, 0, out);
    (void)put<Event::kUserBinaryMsg>(
        2, out,
        std::span<const std::uint8_t>(reinterpret_cast<const std::uint8_t*>(message.data()), message.size()));
    block.close(2);
    put_end(out);
    EXPECT_EQ(rules(file_of(out)), message == "\xFF" ? Rules{LogRule::kBinary} : Rules{});
  }
}

// The size of a block ends inside its last record.
TEST(EventlogCheck, SaysWhichBlockIsWrong) {
  Bytes out;
  put_header(kOwners, out);
  const std::size_t at = out.size();
  put_thread(out, 0);
  out.patch_u32be(at + kRecordHeadSize, 60);
  put_end(out);
  EXPECT_EQ(rules(file_of(out)), Rules{LogRule::kBlock});
}

TEST(EventlogCheck, NotesWhereAKilledProcessStopped) {
  const File whole = good();
  Bytes header;
  put_header(kOwners, header);
  for (std::size_t size = header.size(); size < whole.size(); ++size) {
    LogCheck result;
    check(std::span(whole).first(size), result);
    EXPECT_EQ(result.wrong, 0u) << size;
    EXPECT_EQ(result.notes, 1u) << size;
  }
}

TEST(EventlogCheck, TakesAnyBytes) {
  std::mt19937 random(9);
  const File whole = good();
  for (int round = 0; round < 3'000; ++round) {
    File damaged = whole;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<std::uint8_t>(random());
    LogCheck result;
    check(damaged, result);
  }
}

TEST(EventlogTable, SaysFieldsByTheirNames) {
  Bytes out, words;
  constexpr std::uint32_t kStack[] = {3, 4};
  (void)put<Event::kProfSampleCostCentre>(1, out, std::uint32_t{1}, std::uint64_t{2},
                                          std::span<const std::uint32_t>(kStack));
  const auto payload = out.view().subspan(kRecordHeadSize + 2);
  const EventRow* const row = row_of(number_of(Event::kProfSampleCostCentre), kVariable, payload);
  ASSERT_NE(row, nullptr);
  EXPECT_TRUE(put_fields_text(*row, payload, words));
  EXPECT_EQ(string_view(reinterpret_cast<const char*>(words.view().data()), words.size()),
            "cap 1, tick 2, stack [3 4]");
  words.clear();
  EXPECT_FALSE(put_fields_text(*row, payload.first(payload.size() - 1), words));
}

}  // namespace
}  // namespace jitquill::eventlog
