// A compiler's .eh_frame, read: the test program's own, sections spelled by hand, and damaged ones.
#include "writer/unwind/eh_frame_read.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/hex.hpp"
#include "tests/unit/writer/cfi_reader.hpp"
#include "tests/unit/writer/frame_machine.hpp"
#include "tests/unit/writer/guarded_copy.hpp"
#include "tests/unit/writer/own_eh_frame.hpp"
#include "writer/unwind/blob.hpp"
#include "writer/unwind/eh_frame.hpp"

namespace jitquill::unwind {
namespace {

using tests::from_hex;
using tests::to_hex;

Unwinding unwinding_of(const ReadyCfi& cfi) {
  return {.kind = Unwinding::Kind::kReady, .events = {}, .ready = cfi};
}

constexpr std::uint64_t kSection = 0x10000;  // where the spelled sections lie

std::optional<FoundFde> find(std::string_view text, std::uint64_t address, std::uint64_t size) {
  static std::vector<std::uint8_t> bytes;  // the result points into it
  bytes = from_hex(text);
  return find_fde(bytes, kSection, address, size);
}

// CIE without its length, with the augmentation and its data.
std::string cie(std::string_view augmentation, std::string_view data) {
  return "00 00 00 00  01  " + std::string(augmentation) + " 00  01 78 10  " + std::string(data) +
         "  0c 07 08 90 01";
}
std::string with_length(const std::string& entry) {
  const auto size = static_cast<std::uint8_t>(from_hex(entry).size());
  return to_hex(std::vector<std::uint8_t>{size, 0, 0, 0}) + " " + entry + " ";
}
std::string with_long_length(const std::string& entry) {
  const auto size = static_cast<std::uint8_t>(from_hex(entry).size());
  return "ff ff ff ff " + to_hex(std::vector<std::uint8_t>{size, 0, 0, 0, 0, 0, 0, 0}) + " " + entry + " ";
}
// An FDE's distance to its CIE, which is the section's first entry.
std::string behind(const std::string& cie_entry, std::size_t length_size, const std::string& rest) {
  const auto distance = static_cast<std::uint8_t>(from_hex(cie_entry).size() + length_size);
  return to_hex(std::vector<std::uint8_t>{distance, 0, 0, 0}) + " " + rest;
}
// One CIE, one FDE, a terminator.
std::string section(std::string_view augmentation, std::string_view data, const std::string& fde) {
  const std::string first = with_length(cie(augmentation, data));
  return first + with_length(behind(first, 4, fde)) + "00 00 00 00";
}

void expect_push(const std::optional<FoundFde>& found) {
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pc_begin, 0x2000u);
  EXPECT_EQ(found->pc_size, 0x40u);
  EXPECT_EQ(found->cfi.code_alignment, 1u);
  EXPECT_EQ(found->cfi.data_alignment, -8);
  EXPECT_EQ(found->cfi.return_address, 16u);
  EXPECT_EQ(to_hex(found->cfi.initial), "0c 07 08 90 01");
  EXPECT_EQ(to_hex(found->cfi.rows), "41 0e 10 83 02");
}

// Absolute, as `00` says: pc_begin 0x2000, pc_range 0x40.
constexpr std::string_view kAbsolute = "00 20 00 00 00 00 00 00  40 00 00 00 00 00 00 00 ";
constexpr std::string_view kPush = " 41 0e 10 83 02";

std::string absolute(std::string_view data) {
  return std::string(kAbsolute) + std::string(data) + std::string(kPush);
}

}  // namespace

TEST(EhFrameRead, FindsTheFunctionsOfThisProgramAndLibdwReadsThemAlike) {
  const tests::OwnEhFrame own = tests::own_eh_frame();
  const tests::CfiReader original("/proc/self/exe");
  ASSERT_GT(own.functions.size(), 200u);
  std::size_t places = 0;
  for (std::size_t i = 0; i < own.functions.size(); i += 1 + own.functions.size() / 150) {
    const auto [address, size] = own.functions[i];
    SCOPED_TRACE(address - own.load_bias);
    const auto found = find_fde(own.section, own.address(), address, size);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->pc_begin, address);
    EXPECT_EQ(found->pc_size, size);
    Bytes out;
    BlobSizes sizes, measured;
    ASSERT_EQ(put_blob(out, unwinding_of(found->cfi), size, 0, sizes), Status::kOk);
    ASSERT_EQ(measure_blob(unwinding_of(found->cfi), size, false, measured), Status::kOk);
    EXPECT_EQ(measured.total(), sizes.total());
    const tests::CfiReader moved(out.view(), sizes, size);
    for (std::uint64_t offset = 0; offset < size; offset += 1 + size / 400, ++places)
      ASSERT_EQ(moved.rules(offset), original.rules(address - own.load_bias + offset)) << "offset " << offset;
  }
  EXPECT_GT(places, 5'000u);
}

// In whatever order they are asked for, and as often as one likes.
TEST(EhFrameRead, AFinderFindsWhatASearchFromTheFrontDoes) {
  const tests::OwnEhFrame own = tests::own_eh_frame();
  FdeFinder finder(own.section, own.address());
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    const auto [address, size] = own.functions[random() % own.functions.size()];
    const auto one = finder.find(address, size);
    const auto other = find_fde(own.section, own.address(), address, size);
    ASSERT_TRUE(one.has_value() && other.has_value());
    EXPECT_EQ(one->pc_begin, address);
    EXPECT_EQ(one->cfi.rows.data(), other->cfi.rows.data());
    if (i % 10 == 0) {
      EXPECT_FALSE(finder.find(address + 1, 1));
    }
  }
}

// From the entry of another function, too.
TEST(EhFrameRead, AFinderMayBeginAnywhere) {
  const tests::OwnEhFrame own = tests::own_eh_frame();
  const auto [middle, middle_size] = own.functions[own.functions.size() / 2];
  const auto from = find_fde(own.section, own.address(), middle, middle_size);
  ASSERT_TRUE(from.has_value());
  ASSERT_GT(from->address, own.address());
  for (const auto& [address, size] : own.functions) {
    FdeFinder finder(own.section, own.address(), 0, from->address - own.address());
    const auto found = finder.find(address, size);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->pc_begin, address);
  }
}

TEST(EhFrameRead, AWalkSeesEachFunctionOnce) {
  const tests::OwnEhFrame own = tests::own_eh_frame();
  std::map<std::uint64_t, int> seen;
  FdeWalk walk(own.section, own.address());
  while (const auto fde = walk.next()) ++seen[fde->pc_begin];
  EXPECT_GE(seen.size(), own.functions.size());
  for (const tests::OwnFunction& function : own.functions) EXPECT_EQ(seen[function.address], 1);
}

TEST(EhFrameRead, FindsOnlyWhatBeginsThereAndIsWhole) {
  const std::string text = section("7a 52", "01 00", absolute("00"));
  expect_push(find(text, 0x2000, 0x40));
  expect_push(find(text, 0x2000, 1));
  EXPECT_FALSE(find(text, 0x2000, 0x41));
  EXPECT_FALSE(find(text, 0x2001, 1));
  EXPECT_FALSE(find(text, 0x1FFF, 1));
  EXPECT_FALSE(find(text, 0x2000, ~std::uint64_t{0}));
  EXPECT_FALSE(find("", 0x2000, 1));
}

TEST(EhFrameRead, KnowsAugmentations) {
  expect_push(find(section("", "", absolute("")), 0x2000, 0x40));
  expect_push(find(section("7a", "00", absolute("00")), 0x2000, 0x40));
  expect_push(find(section("7a 52", "01 00", absolute("00")), 0x2000, 0x40));
  // zPLR: personality (indirect, pc-relative 4 bytes), language data, pointers. The FDE has 4 bytes of its
  // own.
  expect_push(
      find(section("7a 50 4c 52", "07 9b 11 22 33 44 1b 00", absolute("04 55 66 77 88")), 0x2000, 0x40));
  expect_push(
      find(section("7a 50 4c 52", "03 ff ff 00", absolute("00")), 0x2000, 0x40));  // neither of the two
  const auto signal = find(section("7a 52 53", "01 00", absolute("00")), 0x2000, 0x40);
  expect_push(signal);
  EXPECT_TRUE(signal->cfi.is_signal_frame);
  EXPECT_FALSE(find(section("7a 52", "01 00", absolute("00")), 0x2000, 0x40)->cfi.is_signal_frame);
  // Letters that nobody knows are skipped with the data, but not without its length.
  expect_push(find(section("7a 52 42", "03 00 aa bb", absolute("00")), 0x2000, 0x40));
  EXPECT_FALSE(find(section("65 68", "", absolute("")), 0x2000, 0x40));
}

// PHP's: offsets from where the code lies.
TEST(EhFrameRead, CountsTextRelativePointersFromAGivenAddress) {
  const std::string text = section("7a 52", "01 23", "00 20 00 00  40 00 00 00  00" + std::string(kPush));
  const auto bytes = from_hex(text);
  EXPECT_FALSE(FdeWalk(bytes, kSection).next());
  const auto found = FdeWalk(bytes, kSection, 0x500000).next();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->pc_begin, 0x502000u);
  EXPECT_EQ(found->pc_size, 0x40u);
}

TEST(EhFrameRead, KnowsPointerEncodings) {
  const auto found = [](std::string_view encoding, std::string_view pointers) {
    return find(
        section("7a 52", "01 " + std::string(encoding), std::string(pointers) + " 00" + std::string(kPush)),
        0x2000, 0x40);
  };
  // So that the FDE's first pointer lies at 0x10000 + 22 + 8 = 0x1001e.
  ASSERT_EQ(from_hex(with_length(cie("7a 52", "01 00"))).size(), 22u);
  expect_push(found("03", "00 20 00 00  40 00 00 00"));
  expect_push(found("0b", "00 20 00 00  40 00 00 00"));
  expect_push(found("02", "00 20  40 00"));
  expect_push(found("0a", "00 20  40 00"));
  expect_push(found("01", "80 40  40"));        // ULEB128
  expect_push(found("09", "80 c0 00  c0 00"));  // SLEB128
  expect_push(found("04", "00 20 00 00 00 00 00 00  40 00 00 00 00 00 00 00"));
  expect_push(found("1b", "e2 1f ff ff  40 00 00 00"));  // 0x2000 - 0x1001e
  expect_push(found("1c", "e2 1f ff ff ff ff ff ff  40 00 00 00 00 00 00 00"));
  EXPECT_FALSE(found("9b", "e2 1f ff ff  40 00 00 00"));  // indirect
  EXPECT_FALSE(found("3b", "00 20 00 00  40 00 00 00"));  // from the start of .eh_frame_hdr
  EXPECT_FALSE(found("05", "00 20 00 00  40 00 00 00"));  // no form has this number
}

TEST(EhFrameRead, KnowsLengthsOf64Bits) {
  const std::string first = with_long_length(cie("7a 52", "01 00"));
  const std::string fde = with_long_length(behind(first, 12, absolute("00")));
  expect_push(find(first + fde + "00 00 00 00", 0x2000, 0x40));
  EXPECT_FALSE(find("ff ff ff ff ff ff ff ff ff ff ff ff 00 00 00 00", 0x2000, 1));
  EXPECT_FALSE(find("ff ff ff ff 10", 0x2000, 1));
}

TEST(EhFrameRead, StopsAtTheTerminator) {
  const std::string first = with_length(cie("7a 52", "01 00"));
  const std::string fde = with_length(behind(first, 4, absolute("00")));
  expect_push(find(first + fde, 0x2000, 0x40));  // none is needed
  EXPECT_FALSE(find("00 00 00 00 " + first + fde, 0x2000, 0x40));
}

TEST(EhFrameRead, RefusesWhatCannotBeMoved) {
  const auto with_rows = [](std::string_view rows) {
    return find(section("7a 52", "01 00", std::string(kAbsolute) + "00 " + std::string(rows)), 0x2000, 0x40);
  };
  EXPECT_TRUE(with_rows("02 10  03 10 00  04 10 00 00 00  05 41 02  06 03  07 03  08 03  09 03 0c  0a  0b"));
  EXPECT_TRUE(with_rows("0c 07 08  0d 06  0e 10  0f 02 77 08  10 03 01 77  11 03 7e  12 07 7f  13 7f"));
  EXPECT_TRUE(with_rows("14 03 02  15 03 7e  16 03 01 77  2e 10  c3  83 02  7f"));
  EXPECT_FALSE(with_rows("01 00 20 00 00 00 00 00 00"));  // DW_CFA_set_loc
  EXPECT_FALSE(with_rows("17"));
  EXPECT_FALSE(with_rows("04 10 00 00"));  // cut off
  EXPECT_FALSE(with_rows("0f 03 77 08"));  // a block longer than the rows
  EXPECT_FALSE(with_rows("0e 80"));        // a number that does not end
  EXPECT_FALSE(with_rows("0f ff ff ff ff ff ff ff ff ff 01"));
}

TEST(EhFrameRead, RefusesOtherVersionsAndWrongDistances) {
  const std::string good = section("7a 52", "01 00", absolute("00"));
  const auto damaged = [&](std::size_t at, std::uint8_t value) {
    std::vector<std::uint8_t> bytes = from_hex(good);
    bytes[at] = value;
    return find(to_hex(bytes), 0x2000, 0x40);
  };
  ASSERT_TRUE(damaged(8, 1));
  EXPECT_TRUE(damaged(8, 3));  // its return address is a ULEB128, which 16 is alike
  EXPECT_FALSE(damaged(8, 4));
  const std::size_t distance = from_hex(with_length(cie("7a 52", "01 00"))).size() + 4;
  EXPECT_FALSE(damaged(distance, 0));     // a CIE
  EXPECT_FALSE(damaged(distance, 0xFF));  // in front of the section
  EXPECT_FALSE(damaged(distance, 4));     // itself
}

TEST(EhFrameRead, ReadsWhatTheWriterPutForAbsoluteAddresses) {
  Bytes out;
  EhFrameSection built(out, PointerForm::kAbsolute8);
  std::map<std::uint64_t, std::pair<std::uint64_t, std::vector<FrameEvent>>> functions;
  std::uint64_t address = 0x7f0000001000;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    tests::FrameMachine machine(seed);
    machine.run();
    const Unwinding unwinding = Unwinding::from_events(machine.events());
    EntrySizes sizes;
    ASSERT_EQ(measure_entry(unwinding, PointerForm::kAbsolute8, machine.code_size(), sizes), Status::kOk);
    const std::uint64_t before = built.size();
    ASSERT_EQ(built.add(unwinding, static_cast<std::int64_t>(address), machine.code_size()), Status::kOk);
    EXPECT_EQ(built.size() - before, sizes.fde + (before == 0 ? sizes.cie : 0));
    functions[address] = {machine.code_size(), machine.events()};
    address += machine.code_size() + seed % 3;
  }
  constexpr FrameEvent kBad[] = {{1, FrameEventKind::kPop, 3, 0}};
  const std::uint64_t before = built.size();
  EXPECT_EQ(built.add(Unwinding::from_events(kBad), 0x1000, 10), Status::kBadFrame);
  EXPECT_EQ(built.add({}, 0x1000, 10), Status::kBadFrame);
  EXPECT_EQ(built.size(), before);
  for (const auto& [start, function] : functions) {
    const auto found = find_fde(out.view(), kSection, start, function.first);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->pc_size, function.first);
    Bytes told, ready;
    BlobSizes sizes;
    ASSERT_EQ(put_blob(told, Unwinding::from_events(function.second), function.first, 0, sizes), Status::kOk);
    ASSERT_EQ(put_blob(ready, unwinding_of(found->cfi), function.first, 0, sizes), Status::kOk);
    const auto rows = ready.view().subspan(24 + 17, told.view().size() - 24 - 17 - sizes.eh_frame_hdr);
    EXPECT_EQ(to_hex(rows), to_hex(told.view().subspan(24 + 17, rows.size())));
  }
}

namespace {

// Every result lies inside, can be measured, and is put as long as measured.
struct Tally {
  int found = 0, refused = 0;
};
void search(std::span<const std::uint8_t> bytes, std::uint64_t section_address,
            std::span<const tests::OwnFunction> functions, Tally& tally) {
  for (const auto& [address, size] : functions) {
    const auto found = find_fde(bytes, section_address, address, size);
    ++(found ? tally.found : tally.refused);
    if (!found) continue;
    for (const auto part : {found->cfi.initial, found->cfi.rows})
      EXPECT_TRUE(part.empty() ||
                  (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size()));
    Bytes out;
    BlobSizes put, measured;
    ASSERT_EQ(measure_blob(unwinding_of(found->cfi), size, false, measured), Status::kOk);
    ASSERT_EQ(put_blob(out, unwinding_of(found->cfi), size, 0, put), Status::kOk);
    EXPECT_EQ(out.size(), measured.total());
  }
}

}  // namespace

// The copy ends where no byte can be read, and has no byte more than the section on the heap either, so both
// the processor and AddressSanitizer watch.
TEST(EhFrameRead, DamagedSectionsAreNeverReadOutside) {
  const tests::OwnEhFrame own = tests::own_eh_frame();
  const std::size_t size = std::min<std::size_t>(own.section.size(), 3000);
  std::vector<tests::OwnFunction> functions;
  for (const tests::OwnFunction& function : own.functions)
    if (find_fde(own.section.first(size), own.address(), function.address, function.size))
      functions.push_back(function);
  ASSERT_GT(functions.size(), 10u);
  if (functions.size() > 12) functions.resize(12);
  Tally tally;
  for (std::uint32_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(own.section.begin(),
                                    own.section.begin() + static_cast<std::ptrdiff_t>(size));
    if (random() % 4 == 0) bytes.resize(random() % size);
    bytes.shrink_to_fit();
    for (std::size_t damage = random() % 16; damage != 0 && !bytes.empty(); --damage) {
      static constexpr std::uint8_t kNasty[] = {0, 1, 4, 0x7F, 0x80, 0xFF};
      const auto kind = random() % 3;
      std::uint8_t& byte = bytes[random() % bytes.size()];
      byte = kind == 0   ? static_cast<std::uint8_t>(byte ^ (1u << random() % 8))
             : kind == 1 ? kNasty[random() % std::size(kNasty)]
                         : static_cast<std::uint8_t>(random());
    }
    search(bytes, own.address(), functions, tally);
    const tests::GuardedCopy copy(bytes);
    search(copy.view(), own.address(), functions, tally);
  }
  EXPECT_GT(tally.found, 1000);
  EXPECT_GT(tally.refused, 1000);
}

}  // namespace jitquill::unwind
