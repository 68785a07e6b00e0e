// The checker of jitdumps names each broken rule, agrees with the strict reader, which was written apart from
// it, passes what our writer writes, and survives whatever it is given.
#include "writer/jitdump/check/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/readers/jitdump/damages.hpp"
#include "tests/readers/jitdump/reader.hpp"
#include "writer/jitdump/group.hpp"
#include "writer/jitdump/records.hpp"

namespace {

namespace product = jitquill::jitdump;
using namespace jitdump_reader;  // NOLINT: where things lie in the sample, and how to change it
using jitquill::Status;
using product::check;
using product::CheckResult;
using product::Expected;
using product::Finding;
using Strict = jitdump_reader::Rule;
using Ours = product::Rule;

Expected expected() {
  Expected expected;
  expected.pid = kSamplePid;
  expected.latest_ns = std::uint64_t{1} << 48;
  return expected;
}

std::string text_of(const CheckResult& result) {
  std::string text;
  for (const Finding& finding : result.findings.kept())
    text += std::to_string(finding.offset) + " " + product::text_of(finding.rule).name + ": " +
            finding.reason + "\n";
  return text;
}

bool has(const CheckResult& result, const std::string& rule, std::uint64_t offset) {
  return std::ranges::any_of(result.findings.kept(), [&](const Finding& finding) {
    return finding.offset == offset && product::text_of(finding.rule).name == rule;
  });
}

// What the strict reader calls otherwise, or takes for one with another.
std::set<std::string> names_of(const Damage& damage) {
  std::set<std::string> names{name(damage.rule)};
  if (damage.rule == Strict::kHeaderSize) names.insert("header-short");
  if (damage.rule == Strict::kHeaderMagic) names.insert("header-order");
  if (damage.rule == Strict::kRecordSize) names.insert("zero-tail");
  return names;
}

// What a frame is worth, the checker does not ask; nor can it know whether code was freed.
bool is_left_to_the_strict_reader(Strict rule) {
  return rule == Strict::kCfiCfa || rule == Strict::kCfiEntry || rule == Strict::kCfiReturn ||
         rule == Strict::kCfiSaved || rule == Strict::kLoadOverlap;
}

struct OwnDamage {
  Ours rule;
  std::uint64_t offset;
  std::function<void(Bytes&)> change;
};

void insert_move(Bytes& bytes, std::uint64_t size, std::uint64_t index, std::uint64_t from) {
  Bytes move(64);
  put<std::uint32_t>(move, 0, 1);
  put<std::uint32_t>(move, 4, 64);
  put<std::uint64_t>(move, 8, std::uint64_t{1} << 47);
  put<std::uint32_t>(move, 16, kSamplePid);
  put<std::uint32_t>(move, 20, kSamplePid);
  put<std::uint64_t>(move, 24, 0x8000);
  put<std::uint64_t>(move, 32, from);
  put<std::uint64_t>(move, 40, 0x8000);
  put<std::uint64_t>(move, 48, size);
  put<std::uint64_t>(move, 56, index);
  bytes.insert(bytes.begin() + kCloseAt, move.begin(), move.end());
}

std::vector<OwnDamage> own_damages() {
  using R = Ours;
  return {
      {R::kHeaderShort, 0, [](Bytes& b) { b.resize(12); }},
      {R::kHeaderMagic, 0, [](Bytes& b) { b[0] = 0x7F; }},
      {R::kHeaderOrder, 0, [](Bytes& b) { put<std::uint32_t>(b, 0, 0x4454694A); }},
      {R::kZeroTail, kCloseAt + 16, [](Bytes& b) { b.resize(b.size() + 5000); }},
      {R::kEqualCode, kCloseAt,
       [](Bytes& b) {
         repeat(b, kLoadAt, kCloseAt, kCloseAt);
         add<std::uint64_t>(b, kCloseAt + 48, 1);
       }},
      {R::kMoveRecord, kCloseAt, [](Bytes& b) { insert_move(b, 44, 1, kSampleAddress); }},
      {R::kMoveIndex, kCloseAt + 56, [](Bytes& b) { insert_move(b, 44, 2, kSampleAddress); }},
      {R::kMoveCode, kCloseAt + 48, [](Bytes& b) { insert_move(b, 45, 1, kSampleAddress); }},
      {R::kMoveCode, kCloseAt + 32, [](Bytes& b) { insert_move(b, 44, 1, kSampleAddress + 1); }},
      {R::kMoveSize, kCloseAt + 4,
       [](Bytes& b) {
         insert_move(b, 44, 1, kSampleAddress);
         insert(b, kCloseAt, kCloseAt + 64, Bytes(8));
       }},
  };
}

TEST(JitdumpCheck, FindsNothingInTheSample) {
  const CheckResult result = check(sample(), expected());
  EXPECT_EQ(text_of(result), "");
  EXPECT_EQ(result.functions, 1u);
  EXPECT_EQ(result.records, 4u);
  EXPECT_TRUE(result.is_closed);
  EXPECT_EQ(result.whole_bytes, sample().size());
}

TEST(JitdumpCheck, NamesWhatTheStrictReaderNames) {
  for (const Damage& damage : damages()) {
    if (is_left_to_the_strict_reader(damage.rule)) continue;
    Bytes bytes = sample();
    damage.change(bytes);
    const CheckResult result = check(bytes, expected());
    const auto names = names_of(damage);
    const bool is_named = std::ranges::any_of(names, [&](const std::string& name) {
      return has(result, name, name == "zero-tail" ? damage.offset - 4 : damage.offset);
    });
    EXPECT_TRUE(is_named) << name(damage.rule) << " at " << damage.offset << " is missing in:\n"
                          << text_of(result);
  }
}

TEST(JitdumpCheck, NamesWhatOnlyItKnows) {
  for (const OwnDamage& damage : own_damages()) {
    Bytes bytes = sample();
    damage.change(bytes);
    const CheckResult result = check(bytes, expected());
    EXPECT_TRUE(has(result, product::text_of(damage.rule).name, damage.offset)) << text_of(result);
    const bool is_wrong = product::text_of(damage.rule).weight == product::Weight::kWrong;
    EXPECT_EQ(result.findings.wrong() != 0, is_wrong) << text_of(result);
  }
}

TEST(JitdumpCheck, IsTriedOnEachRule) {
  std::set<std::string> tried{"file-name"};  // tests/host/cli: it is the command's
  for (const Damage& damage : damages()) tried.merge(names_of(damage));
  for (const OwnDamage& damage : own_damages()) tried.insert(product::text_of(damage.rule).name);
#define RULE(id, name, weight, reader, consequence) EXPECT_TRUE(tried.contains(name)) << name;
#include "writer/jitdump/check/rules.def"
#undef RULE
}

// A tail that was cut is a tail that was cut: what is in front of it is read, and nothing else is said.
TEST(JitdumpCheck, SaysOfEachCutOnlyThatItIsOne) {
  const Bytes whole = sample();
  for (std::size_t size = 40; size < whole.size(); ++size) {
    const Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CheckResult result = check(cut, expected());
    const bool is_between =
        size == 40 || size == kDebugAt || size == kUnwindAt || size == kLoadAt || size == kCloseAt;
    EXPECT_EQ(result.is_torn, !is_between) << size;
    for (const Finding& finding : result.findings.kept())
      EXPECT_TRUE(finding.rule == Ours::kRecordTorn || finding.rule == Ours::kGroupOrphan) << text_of(result);
    Expected killed = expected();
    killed.was_killed = true;
    EXPECT_EQ(text_of(check(cut, killed)), "") << size;
  }
}

// What our writer puts, in its forms.
class WrittenDump : public testing::Test {
 protected:
  WrittenDump() {
    product::put_header(out_, {.pid = kSamplePid, .start_ns = 1000, .counts_ticks = false});
    load_.name = "f";
    load_.address = 0x7000;
    load_.bytes = code_;
    load_.file = "a.nib";
    load_.lines = lines_;
    load_.unwinding = jitquill::Unwinding::from_events(frame_);
    load_.pid = load_.tid = kSamplePid;
    load_.when_ns = 2000;
    load_.index = 1;
  }
  CheckResult checked() const { return check(out_.view(), expected()); }

  std::vector<std::uint8_t> code_ = std::vector<std::uint8_t>(44, 0x90);
  std::vector<jitquill::Line> lines_ = {{0, 3, 1, "a.nib"}, {10, 4, 2, "b.nib"}};
  std::vector<jitquill::FrameEvent> frame_ = {{1, jitquill::FrameEventKind::kPush, 3, 0},
                                              {10, jitquill::FrameEventKind::kAllocate, 0, 152}};
  jitquill::CodeLoad load_;
  jitquill::Written written_;
  jitquill::Bytes out_;
};

TEST_F(WrittenDump, PassesWithRoomBehindTheCode) {
  load_.room = 1000;
  ASSERT_EQ(product::put_group(out_, load_, 0, written_), Status::kOk);
  EXPECT_EQ(text_of(checked()), "");
}

TEST_F(WrittenDump, PassesWithSalt) {
  load_.room = 1000;
  ASSERT_EQ(product::put_group(out_, load_, 0, written_), Status::kOk);
  load_.index = 2;
  load_.address = 0x9000;
  ASSERT_EQ(product::put_group(out_, load_, 7, written_), Status::kOk);
  const CheckResult result = checked();
  EXPECT_EQ(text_of(result), "");
  EXPECT_EQ(result.functions, 2u);
}

TEST_F(WrittenDump, HasANoteForAMove) {
  ASSERT_EQ(product::put_group(out_, load_, 0, written_), Status::kOk);
  jitquill::CodeMove move;
  move.index = 1;
  move.when_ns = 3000;
  move.from = 0x7000;
  move.to = 0x5000;
  move.size = 44;
  move.pid = move.tid = kSamplePid;
  product::put_move(out_, move);
  product::put_close(out_, 4000);
  const CheckResult result = checked();
  EXPECT_EQ(result.findings.wrong(), 0u) << text_of(result);
  EXPECT_EQ(result.findings.notes(), 1u) << text_of(result);
}

TEST(JitdumpCheck, SurvivesRandomDamage) {
  std::uint64_t found = 0;
  for (std::uint32_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937 random(seed);
    Bytes bytes = sample();
    if (seed % 3 == 0) give_twin(bytes);
    if (seed % 5 == 0) insert_move(bytes, 44, 1, kSampleAddress);
    for (std::size_t count = 1 + random() % 8; count > 0; --count) mutate(bytes, random);
    const CheckResult result = check(bytes, expected());
    for (const Finding& finding : result.findings.kept()) ASSERT_LE(finding.offset, bytes.size()) << seed;
    found += result.findings.wrong() != 0 ? 1 : 0;
  }
  EXPECT_GT(found, 17'000u);
}

// Both, of the same damage: where the strict reader is content, so is the checker.
TEST(JitdumpCheck, AgreesWithTheStrictReaderOnRandomDamage) {
  std::uint64_t content = 0;
  for (std::uint32_t seed = 1; seed <= 20'000; ++seed) {
    std::mt19937 random(seed);
    Bytes bytes = sample();
    bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    Expectations expectations;
    expectations.pid = kSamplePid;
    expectations.latest_ns = expected().latest_ns;
    const Dump dump = read(bytes, expectations);
    const bool has_frame_of_no_worth = std::ranges::any_of(
        dump.violations, [](const Violation& v) { return is_left_to_the_strict_reader(v.rule); });
    if (has_frame_of_no_worth) continue;  // the one stops there, the other reads on
    const bool strict_is_content = dump.violations.empty();
    const CheckResult result = check(bytes, expected());
    EXPECT_EQ(strict_is_content, result.findings.kept().empty())
        << seed << "\n"
        << describe(dump.violations) << text_of(result);
    content += strict_is_content ? 1 : 0;
  }
  EXPECT_GT(content, 1'000u);
}

TEST(JitdumpCheck, KnowsNamesAsPerfDoes) {
  EXPECT_EQ(product::pid_of_dump("jit-123.dump"), 123u);
  for (const char* other : {"jit-.dump", "jit-12.dum", "jitx-12.dump", "jit-012.dump", "jit-1x.dump",
                            "jit--1.dump", "jit-99999999999.dump", ""})
    EXPECT_FALSE(product::pid_of_dump(other).has_value()) << other;
}

}  // namespace
