// The bytes of an OpenJ9 trace, spelled here: header, record, and each kind of entry, for both byte orders
// and both sizes of pointers.
//
// "text" are its characters, <0000002a> is a number of so many bytes in the order of the file, {...} one of 8
// of which a file for pointers of 4 bytes has the lower half, all else is hex.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/hex.hpp"
#include "writer/openj9/dat.hpp"
#include "writer/openj9/exception_buffer.hpp"
#include "writer/openj9/header.hpp"
#include "writer/openj9/record.hpp"
#include "writer/openj9/ring.hpp"
#include "writer/openj9/trace_point.hpp"

namespace jitquill::openj9 {
namespace {

using tests::from_hex;
using tests::to_hex;

std::vector<std::uint8_t> spelled(std::string_view text, Target target) {
  std::vector<std::uint8_t> bytes;
  while (!text.empty()) {
    const char opener = text.front();
    const char closer = opener == '<' ? '>' : opener == '{' ? '}' : opener == '"' ? '"' : '\0';
    std::size_t end =
        closer != '\0' ? text.find(closer, 1) : std::min(text.find_first_of("<{\"#"), text.size());
    if (opener == '#') end = std::min(text.find('\n'), text.size());
    const std::string_view word = closer != '\0' ? text.substr(1, end - 1) : text.substr(0, end);
    text.remove_prefix(std::min(end + (closer != '\0' ? 1 : 0), text.size()));
    if (opener == '#') continue;
    if (opener == '"') {
      bytes.insert(bytes.end(), word.begin(), word.end());
      continue;
    }
    auto piece = from_hex(word);
    if (opener == '{' && target.pointer_size == 4) piece.erase(piece.begin(), piece.begin() + 4);
    if (closer != '\0' && target.order == std::endian::little) std::ranges::reverse(piece);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

template <class Case>
class OpenJ9Golden : public testing::Test {};

template <std::endian kOrder, unsigned kPointer>
struct For {
  static constexpr Target kTarget{kOrder, kPointer};
};
using Targets = testing::Types<For<std::endian::little, 8>, For<std::endian::little, 4>,
                               For<std::endian::big, 8>, For<std::endian::big, 4>>;
TYPED_TEST_SUITE(OpenJ9Golden, Targets);

constexpr Clock kClock{5'000'000'000, 0x19B7CA98C88};

TYPED_TEST(OpenJ9Golden, Header) {
  constexpr Target kTarget = TypeParam::kTarget;
  Header header;
  header.record_size = 2048;
  header.clock = kClock;
  header.service = "jitquill 1";
  header.startup = std::string_view("prog\0-x\0", 8);
  header.active = "a=1";
  header.processors = 2;
  header.architecture = 6, header.subtype = 12, header.word_size = 64;
  Bytes out;
  ASSERT_EQ(put_header<kTarget>(header, out), Status::kOk);
  const std::string text = R"(
    "UTTH" <000000f8> <00000005> <00000000>
    <00000800>                                    # bytes of a record
    <12345678> <00000030> <00000060> <0000007c> <00000094> <000000a8> <00000000>
    "UTTS" <00000030> <00000005> <00000000>
    <000000012a05f200> <0000019b7ca98c88>         # the clock at the start, ms since 1970
    <00000001> <00000001>                         # external, one generation
    <0000000)" + std::to_string(kTarget.pointer_size) +
                           R"(> <00000000>
    "UTSS" <0000001c> <00000005> <00000000> "jitquill 1" 00 00
    "UTSO" <00000018> <00000005> <00000000> "prog" 00 "-x" 00
    "UTTA" <00000014> <00000005> <00000000> "a=1" 00
    "UTPR" <00000050> <00000005> <00000000>
    "PINF" <00000040> <00000005> <00000000>
    <00000006> <0000000)" + (kTarget.order == std::endian::big ? "1" : "0") +
                           R"(> <00000040> <00000002>
    "PIN" 00 <00000018> <00000005> <00000000>
    <0000000c> <00000007> <00001000> <00000000>
  )";
  EXPECT_EQ(to_hex(out.view()), to_hex(spelled(text, kTarget)));
}

// Of a record of 400 bytes: a clock wrap, parameters of each kind, and the end of the thread.
TYPED_TEST(OpenJ9Golden, RecordWithEachKindOfEntry) {
  constexpr Target kTarget = TypeParam::kTarget;
  Record<kTarget> record;
  ASSERT_TRUE(record.open(400, kClock, {0x1234, 77, "main"}));
  Bytes out, parameters;
  ASSERT_EQ(record.lose(3, out), Status::kOk);
  ASSERT_EQ((put_parameters<kTarget, Point::kCodeMove>(100, parameters, std::uint64_t{0x7f0012345678},
                                                       std::uint64_t{64}, std::uint64_t{9})),
            Status::kOk);
  ASSERT_EQ(record.put(0x1FFFFFFFF, head_of<kTarget>(Point::kCodeMove), parameters.view(), out), Status::kOk);
  parameters.clear();
  ASSERT_EQ((put_parameters<kTarget, Point::kEnter>(100, parameters, std::string_view("a\nb"))), Status::kOk);
  ASSERT_EQ(record.put(0x300000002, head_of<kTarget>(Point::kEnter), parameters.view(), out), Status::kOk);
  ASSERT_EQ(record.put(0x300000003, EntryHead<kTarget>::internal(kThreadEndNumber), {}, out), Status::kOk);
  EXPECT_EQ(out.size(), 0u);
  ASSERT_EQ(record.close(out), Status::kOk);

  const bool is_wide = kTarget.pointer_size == 8;
  const std::string text = std::string(R"(
    <0000000300000003> <00000001ffffffff>         # newest, oldest
    <0000000300017f40> <0000019b7ca9ab55>         # when it was written
    <0000000000001234> <000000000000004d> <0000000000000000>
    <00000045> )") + (is_wide ? "<000000b2>" : "<000000ae>") +
                           R"(
    "main" 00
    00
    00 01 00 <00000003> 08                        # three records are lost
    00 01 08 <ffffffff> <00000002> "jq" {00007f0012345678} <0000000000000040> <0000000000000009> )" +
                           (is_wide ? "26" : "22") + R"(
    00 00 00 <00000001> 08                        # the upper half of the clock was 1
    00 01 01 <00000002> <00000003> "jqm" <0004> "a" 5c "nb" 15
    00 01 06 <00000003> <00000016> "INTERNALTRACECOMPONENT" 22
  )";
  auto bytes = spelled(text, kTarget);
  bytes.resize(400);
  EXPECT_EQ(to_hex(out.view()), to_hex(bytes));
}

// 255 is the longest that one byte tells.
TYPED_TEST(OpenJ9Golden, LongEntry) {
  constexpr Target kTarget = TypeParam::kTarget;
  for (const auto& [size, tail] : {std::pair{240, "ff"}, {241, "00 00 00 01 04"}, {1000, "f7 00 00 03 04"}}) {
    Bytes parameters, out;
    const std::string name(static_cast<std::size_t>(size) - 2, 'x');
    ASSERT_EQ((put_parameters<kTarget, Point::kEnter>(2000, parameters, std::string_view(name))),
              Status::kOk);
    std::vector<std::uint8_t> room(2000);
    const EntryHead<kTarget>& head = head_of<kTarget>(Point::kEnter);
    const auto* const end = head.put(7, parameters.view(), room.data());
    char digits[8];
    std::snprintf(digits, sizeof digits, "%04x", static_cast<unsigned>(name.size()));
    const std::string text =
        "00 01 01 <00000007> <00000003> \"jqm\" <" + std::string(digits) + "> \"" + name + "\" " + tail;
    EXPECT_EQ(to_hex({room.data(), end}), to_hex(spelled(text, kTarget)));
    EXPECT_EQ(static_cast<std::size_t>(end - room.data()),
              head.size_in_record(head.size_with(parameters.size())));
  }
}

TYPED_TEST(OpenJ9Golden, ExceptionBufferNamesTheThread) {
  constexpr Target kTarget = TypeParam::kTarget;
  ExceptionBuffer<kTarget> buffer;
  ASSERT_TRUE(buffer.open(256, kClock));
  Bytes out;
  const auto put = [&](std::uint64_t thread, std::uint64_t ticks) {
    const std::uint8_t name[2] = {};
    ASSERT_EQ(buffer.put(thread, ticks, head_of<kTarget>(Point::kEnter), name, out), Status::kOk);
  };
  put(0x77, 0x12a05f201);
  put(0x77, 0x12a05f202);
  ASSERT_EQ(buffer.record().close(out), Status::kOk);
  const bool is_wide = kTarget.pointer_size == 8;
  const std::string text = std::string(R"(
    <000000012a05f202> <000000012a05f201> <000000012a153440> <0000019b7ca98c89>
    <0000000000000000> <0000000000000000> <0000000000000000> <0000005e> )") +
                           (is_wide ? "<000000aa>" : "<000000a6>") + R"(
    "Exception trace pseudo-thread" 00 00
    00 01 03 <2a05f201> <00000016> "INTERNALTRACECOMPONENT" {0000000000000077} )" +
                           (is_wide ? "2a" : "26") + R"(
    00 01 01 <2a05f201> <00000003> "jqm" <0000> 11
    00 01 01 <2a05f202> <00000003> "jqm" <0000> 11
  )";
  auto bytes = spelled(text, kTarget);
  bytes.resize(256);
  EXPECT_EQ(to_hex(out.view()), to_hex(bytes));
}

// The second entry does not fit behind the first: it goes on at the front.
TYPED_TEST(OpenJ9Golden, RingGoesRound) {
  constexpr Target kTarget = TypeParam::kTarget;
  alignas(8) std::uint8_t bytes[192] = {};
  Ring<kTarget> ring;
  ASSERT_TRUE(ring.open(bytes, kClock, {0x12, 7, "t"}, kClock.start_ticks));
  const std::uint8_t name[12] = {0, 10, '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'};
  for (unsigned i = 0; i < 5; ++i)
    ASSERT_EQ(ring.put(kClock.start_ticks + i, head_of<kTarget>(Point::kEnter), name), Status::kOk);
  const auto entry = [&](int i) {
    return spelled("00 01 01 <2a05f20" + std::to_string(i) + "> <00000003> \"jqm\" 00 0a \"0123456789\" 1b",
                   kTarget);
  };
  auto all = spelled(R"(
    <000000012a05f204> <000000012a05f200> <0000000165a0bc00> <0000019b7ca99070>
    <0000000000000012> <0000000000000007> <0000000000000000> <00000042> <0000004b>
    "t" 00 "123456789" 1b
  )",
                     kTarget);
  const auto put = [&](const std::vector<std::uint8_t>& from, std::ptrdiff_t first, std::ptrdiff_t end) {
    all.insert(all.end(), from.begin() + first, from.begin() + end);
  };
  put(entry(0), 9, 26);  // what is left of the first: its length is gone
  all.push_back(0);
  for (int i = 1; i < 4; ++i) put(entry(i), 0, 27);
  put(entry(4), 0, 17);
  EXPECT_EQ(to_hex(bytes), to_hex(all));
}

}  // namespace
}  // namespace jitquill::openj9
