#include "agent/hooks/sites.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "agent/hooks/sled.hpp"
#include "jitquill/jitquill.h"

namespace jitquill::sites {
namespace {

constexpr std::uint32_t kEntryAt = 0, kTailAt = 24, kLeaveAt = 48, kThunksAt = 64;
constexpr std::size_t kSize = 64, kPage = 4096;

// A function with three sites and their thunks, mapped twice.
class Code {
 public:
  explicit Code(bool with_stacks = false)
      : with_stacks_(with_stacks), file_(::memfd_create("sites", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_, kPage), 0);
    runs_ = map(PROT_READ | PROT_EXEC);
    writable_ = map(PROT_READ | PROT_WRITE);
    std::memset(writable_, 0x90, kSize);
    put_sled(kEntryAt, JITQUILL_SITE_ENTER);
    put_sled(kTailAt, JITQUILL_SITE_TAIL);
    put_sled(kLeaveAt, JITQUILL_SITE_LEAVE);
  }
  ~Code() {
    ::munmap(runs_, kPage);
    ::munmap(writable_, kPage);
    ::close(file_);
  }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  CodeLoad load() const {
    CodeLoad load;
    load.id = 0x12345678;
    load.address = reinterpret_cast<std::uint64_t>(runs_);
    load.bytes = {runs_, kSize};
    load.name = "f";
    load.sites = sites;
    load.writable = writable_;
    return load;
  }
  std::uint8_t* writable() const { return writable_; }
  std::uint8_t* byte(std::uint32_t at) const { return writable_ + at; }
  std::string sled(std::uint32_t at) const {
    return {reinterpret_cast<const char*>(runs_) + at, sled::kSize};
  }
  std::string all() const { return {reinterpret_cast<const char*>(runs_), kPage}; }

  std::vector<Site> sites{{kEntryAt, JITQUILL_SITE_ENTER, {}},
                          {kTailAt, JITQUILL_SITE_TAIL, {}},
                          {kLeaveAt, JITQUILL_SITE_LEAVE, {}}};

 private:
  std::uint8_t* map(int protection) const {
    return static_cast<std::uint8_t*>(::mmap(nullptr, kPage, protection, MAP_SHARED, file_, 0));
  }
  void put_sled(std::uint32_t at, std::uint32_t kind) {
    const std::uint32_t thunk = kThunksAt + 16 * kind;
    const std::uint8_t bytes[] = {0xEB, 0x09, 0, 0, 0, 0, 0xE8};
    const std::uint32_t relative = thunk - at - static_cast<std::uint32_t>(sled::kSize);
    std::memcpy(byte(at), bytes, sizeof bytes);
    std::memcpy(byte(at) + sizeof bytes, &relative, sizeof relative);
    const std::uint8_t jump[] = {0xFF, 0x25, 0, 0, 0, 0};
    const void* const target = hook(kind, with_stacks_);
    std::memcpy(byte(thunk), jump, sizeof jump);
    std::memcpy(byte(thunk) + sizeof jump, &target, sizeof target);
  }

  bool with_stacks_;
  int file_;
  std::uint8_t* runs_;
  std::uint8_t* writable_;
};

SiteList* take(const CodeLoad& load, Trouble expected = Trouble::kNone) {
  touch(load);
  Trouble trouble{};
  SiteList* const list = SiteList::make(load, trouble);
  EXPECT_EQ(trouble, expected) << text(trouble);
  EXPECT_EQ(list != nullptr, expected == Trouble::kNone);
  return list;
}

TEST(Sites, AreSwitchedByTheirFirstTwoBytes) {
  Code code;
  SiteList* const list = take(code.load());
  ASSERT_NE(list, nullptr);
  EXPECT_EQ(list->name(), "f");
  for (int i = 0; i < 3; ++i) {
    for (const bool on : {true, false}) {
      EXPECT_TRUE(list->turn(on));
      EXPECT_EQ(list->is_on(), on);
      for (const Site& site : code.sites) {
        const std::string bytes = code.sled(site.offset);
        EXPECT_EQ(bytes.substr(0, 2), on ? "\x41\xBA" : "\xEB\x09");
        EXPECT_EQ(bytes.substr(2, 5), "\x78\x56\x34\x12\xE8");
      }
    }
  }
  SiteList::forget(list);
}

class SitesThatWent : public testing::Test {
 protected:
  void expect_left() {
    const std::string before = code.all();
    for (const bool on : {true, false, true}) {
      EXPECT_EQ(list->turn(on), !on) << on;
      EXPECT_TRUE(list->is_gone());
    }
    EXPECT_EQ(code.all(), before);
  }
  ~SitesThatWent() override { SiteList::forget(list); }
  Code code;
  SiteList* list = take(code.load());
};

TEST_F(SitesThatWent, ByMprotectAreLeft) {
  ASSERT_EQ(::mprotect(code.writable(), kPage, PROT_READ), 0);
  expect_left();
}

TEST_F(SitesThatWent, ByMunmapAreLeft) {
  ASSERT_EQ(::mprotect(code.writable(), kPage, PROT_NONE), 0);
  expect_left();
}

TEST_F(SitesThatWent, UnderOtherBytesAreLeft) {
  std::memset(code.byte(kTailAt), 0x90, sled::kSize);
  expect_left();
}

TEST_F(SitesThatWent, UnderAnotherFunctionAreLeft) {
  code.byte(kLeaveAt)[2] ^= 1;  // its number
  expect_left();
}

TEST(Sites, NothingBesideThemIsWritten) {
  Code code;
  std::string expected = code.all();
  SiteList* const list = take(code.load());
  ASSERT_NE(list, nullptr);
  EXPECT_TRUE(list->turn(true));
  for (const Site& site : code.sites) expected.replace(site.offset, 6, "\x41\xBA\x78\x56\x34\x12");
  EXPECT_EQ(code.all(), expected);
  SiteList::forget(list);
}

// Announced again while they are on: with their new id, and off until they are switched.
TEST(Sites, AreTakenAgainAsTheyAre) {
  Code code;
  SiteList* const first = take(code.load());
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(first->turn(true));
  CodeLoad again = code.load();
  again.id = 7;
  SiteList* const second = take(again);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(code.sled(kLeaveAt).substr(0, 7), std::string("\xEB\x09\x07\0\0\0\xE8", 7));
  SiteList::forget(first);
  SiteList::forget(second);
}

TEST(Sites, AnyOtherByteOfASledIsRefused) {
  for (const std::uint32_t at : {0u, 1u, 6u, 7u, 8u, 9u, 10u}) {
    for (const Site& site : Code().sites) {
      Code code;
      *code.byte(site.offset + at) ^= 0x21;
      const std::string before = code.all();
      EXPECT_EQ(take(code.load(), at < 7 ? Trouble::kBadSleds : Trouble::kBadThunk), nullptr);
      EXPECT_EQ(code.all(), before) << "byte " << at;
    }
  }
}

TEST(Sites, AThunkThatIsNotOursIsRefused) {
  for (std::uint32_t at = 0; at < sled::kThunkSize; ++at) {
    Code code;
    *code.byte(kThunksAt + 16 * JITQUILL_SITE_LEAVE + at) ^= 1;
    const std::string before = code.all();
    EXPECT_EQ(take(code.load(), Trouble::kBadThunk), nullptr);
    EXPECT_EQ(code.all(), before) << "byte " << at;
  }
}

// The hook of another kind would write the wrong record.
TEST(Sites, AThunkOfAnotherKindIsRefused) {
  Code code;
  code.sites[1].kind = JITQUILL_SITE_LEAVE;
  EXPECT_EQ(take(code.load(), Trouble::kBadThunk), nullptr);
}

TEST(Sites, BadPlacesAreRefused) {
  const std::vector<std::vector<Site>> wrong = {
      {{kEntryAt, 0, {}}},
      {{kEntryAt, 4, {}}},
      {{kEntryAt, 255, {}}},
      {{kEntryAt + 4, JITQUILL_SITE_ENTER, {}}},
      {{kSize - 8, JITQUILL_SITE_LEAVE, {}}},
      {{0xFFFFFFF8, JITQUILL_SITE_LEAVE, {}}},
      {{kEntryAt, JITQUILL_SITE_ENTER, {}}, {kEntryAt, JITQUILL_SITE_ENTER, {}}},
      {{kLeaveAt, JITQUILL_SITE_LEAVE, {}}, {kEntryAt, JITQUILL_SITE_ENTER, {}}},
      {{kEntryAt, JITQUILL_SITE_ENTER, {}}, {8, JITQUILL_SITE_ENTER, {}}},
  };
  for (const std::vector<Site>& sites : wrong) {
    Code code;
    code.sites = sites;
    const std::string before = code.all();
    EXPECT_EQ(take(code.load(), Trouble::kBadSites), nullptr);
    EXPECT_EQ(code.all(), before);
  }
}

TEST(Sites, ThatCannotBeWrittenOrNumberedStayOff) {
  Code code;
  const std::string before = code.all();
  CodeLoad load = code.load();
  load.writable = nullptr;
  take(load, Trouble::kNoPlace);
  load = code.load();
  load.may_fault = true;
  take(load, Trouble::kNoPlace);
  load = code.load();
  load.id = std::uint64_t{1} << 32;
  take(load, Trouble::kLargeId);
  EXPECT_EQ(code.all(), before);
  load.id -= 1;
  SiteList::forget(take(load));
}

// The hook that takes stacks would take the number's highest bit for the wish for one.
TEST(Sites, OfHooksThatTakeStacksHaveNumbersOf31Bits) {
  Code code(true);
  CodeLoad load = code.load();
  load.id = std::uint64_t{1} << 31;
  take(load, Trouble::kLargeId);
  load.id -= 1;
  for (const bool wants_stack : {false, true}) {
    Trouble trouble{};
    SiteList::forget(SiteList::make(load, trouble, wants_stack));
    EXPECT_EQ(trouble, Trouble::kNone);
    EXPECT_EQ(code.sled(kEntryAt).substr(2, 4), wants_stack ? "\xFF\xFF\xFF\xFF" : "\xFF\xFF\xFF\x7F");
    EXPECT_EQ(code.sled(kLeaveAt).substr(2, 4), "\xFF\xFF\xFF\x7F");
  }
}

TEST(Sites, OfHooksThatTakeNoStacksSayThatTheyLackThem) {
  for (const bool with_stacks : {false, true}) {
    for (const bool wants_stack : {false, true}) {
      const Code code(with_stacks);
      Trouble trouble{};
      SiteList* const list = SiteList::make(code.load(), trouble, wants_stack);
      ASSERT_NE(list, nullptr);
      EXPECT_EQ(list->lacks_stacks(), wants_stack && !with_stacks);
      SiteList::forget(list);
    }
  }
}

// The runtime said where it copied the code from, not where it can be written.
TEST(Sites, ABufferThatTheCodeWasCopiedFromIsRefused) {
  Code code;
  alignas(8) std::array<std::uint8_t, kSize> buffer;
  std::memcpy(buffer.data(), code.writable(), kSize);
  CodeLoad load = code.load();
  load.writable = buffer.data();
  const std::string before = code.all();
  EXPECT_EQ(take(load, Trouble::kBadSleds), nullptr);
  EXPECT_EQ(code.all(), before);
}

TEST(Sites, AWritablePlaceOffByFourIsRefused) {
  Code code;
  CodeLoad load = code.load();
  load.writable += 4;
  EXPECT_EQ(take(load, Trouble::kBadSites), nullptr);
}

// A sled whose call leads to where nothing is mapped.
TEST(Sites, AThunkThatCannotBeReadIsRefused) {
  Code code;
  const std::int32_t far = 0x7FFFFF00;
  std::memcpy(code.byte(kEntryAt) + 7, &far, sizeof far);
  EXPECT_EQ(take(code.load(), Trouble::kBadThunk), nullptr);
}

}  // namespace
}  // namespace jitquill::sites
