// What intakes hand on: merged, bounded, and never over what the runtime itself told.
#include "agent/intake/told.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/base/counters.hpp"
#define JITQUILL_LINK  // the agent is a part of this program
#include "jitquill/jitquill.h"

namespace jitquill {
namespace {

namespace fs = std::filesystem;

std::uint64_t value_of(Counter which) {
  return counted(static_cast<std::size_t>(which));
}

// Memory that cannot be read.
class Gone {
 public:
  ~Gone() { munmap(page_, 4096); }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(page_); }

 private:
  void* page_ = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

class Told : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/told-XXXXXX";
    dir_ = mkdtemp(name);
    setenv("JITQUILL_OPTIONS", ("dir=" + dir_).c_str(), 1);
    ASSERT_EQ(jitquill_start(nullptr), JITQUILL_OK);
    reset_counters();
  }
  void TearDown() override {
    EXPECT_EQ(jitquill_stop(), JITQUILL_OK);
    fs::remove_all(dir_);
  }

  std::uint64_t address_of(std::size_t at) const {
    return reinterpret_cast<std::uint64_t>(code_.data() + at);
  }
  CodeLoad load_of(std::size_t at, std::size_t size) const {
    CodeLoad load;
    load.address = address_of(at);
    load.bytes = std::span(code_).subspan(at, size);
    load.name = "overheard";
    return load;
  }
  Status tell(std::size_t at, std::size_t size) {
    CodeLoad load = load_of(at, size);
    return intake::tell_load(load);
  }
  jitquill_status tell_by_api(std::size_t at, std::size_t size) {
    jitquill_code code = {};
    code.struct_size = sizeof code;
    code.addr = code_.data() + at;
    code.size = size;
    code.name = "told";
    return jitquill_code_loaded(&code, nullptr);
  }

  std::string dir_;
  std::vector<std::uint8_t> code_ = std::vector<std::uint8_t>(4096, 0x90);
};

TEST_F(Told, TheSameAgainIsMerged) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tell(0, 64), Status::kOk);
  EXPECT_EQ(value_of(Counter::functions_loaded), 1u);
  EXPECT_EQ(value_of(Counter::duplicates_merged), 2u);
}

TEST_F(Told, OtherBytesOrSizesAreNew) {
  EXPECT_EQ(tell(0, 64), Status::kOk);
  code_[63] = 0xCC;
  EXPECT_EQ(tell(0, 64), Status::kOk);
  EXPECT_EQ(tell(0, 65), Status::kOk);
  EXPECT_EQ(value_of(Counter::functions_loaded), 3u);
  EXPECT_EQ(value_of(Counter::duplicates_merged), 0u);
}

TEST_F(Told, LinesAreWorthWritingItAgain) {
  EXPECT_EQ(tell(0, 64), Status::kOk);
  const Line line{.offset = 0, .line = 7, .column = 1, .file = "f.c"};
  CodeLoad load = load_of(0, 64);
  load.lines = {&line, 1};
  EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(tell(0, 64), Status::kOk);  // it has more than that already
  EXPECT_EQ(value_of(Counter::functions_loaded), 2u);
}

TEST_F(Told, TheRuntimesOwnWordIsNeverOverruled) {
  ASSERT_EQ(tell_by_api(128, 64), JITQUILL_OK);
  for (const auto& [at, size] :
       {std::pair<std::size_t, std::size_t>{128, 64}, {100, 64}, {190, 64}, {128, 16}, {0, 1024}})
    EXPECT_EQ(tell(at, size), Status::kOk);
  EXPECT_EQ(intake::tell_unload(address_of(128)), Status::kNotFound);
  EXPECT_EQ(intake::tell_move(address_of(128), address_of(512)), Status::kNotFound);
  EXPECT_EQ(value_of(Counter::functions_loaded), 1u);
  EXPECT_EQ(value_of(Counter::duplicates_merged), 5u);
  EXPECT_EQ(jitquill_code_unloaded(code_.data() + 128), JITQUILL_OK);
}

TEST_F(Told, AMadeUpNameHoldsOnlyWhereNothingIsKnown) {
  const auto make_up = [&](std::size_t at, std::size_t size) {
    CodeLoad load = load_of(at, size);
    load.is_stopgap = true;
    return intake::tell_load(load);
  };
  EXPECT_EQ(tell(0, 64), Status::kOk);
  for (const std::size_t at : {0u, 32u, 63u}) EXPECT_EQ(make_up(at, 64), Status::kOk);
  EXPECT_EQ(value_of(Counter::functions_loaded), 1u);
  EXPECT_EQ(make_up(64, 64), Status::kOk);
  EXPECT_EQ(value_of(Counter::frames_nameless), 1u);
  EXPECT_EQ(tell(64, 64), Status::kOk);  // the same bytes, but a name
  EXPECT_EQ(tell(64, 64), Status::kOk);  // known now
  EXPECT_EQ(value_of(Counter::functions_loaded), 3u);
}

TEST_F(Told, CodeThatIsGoneCostsACounter) {
  const Gone gone;
  CodeLoad load;
  load.address = gone.address();
  load.bytes = {reinterpret_cast<const std::uint8_t*>(gone.address()), 100};
  load.name = "gone";
  load.may_move = true;
  EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(intake::tell_move(load.address, load.address + 128), Status::kOk);
  EXPECT_EQ(value_of(Counter::code_unreadable), 2u);
}

TEST_F(Told, ACopyIsTakenAsItIs) {
  const Gone gone;
  CodeLoad load = load_of(0, 64);
  load.address = gone.address();
  EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(value_of(Counter::functions_loaded), 1u);
  EXPECT_EQ(value_of(Counter::code_unreadable), 0u);
}

// Functions of 32 bytes each, copied from somewhere else.
class ToldTogether : public Told {
 protected:
  static constexpr std::size_t kCount = 100;

  ToldTogether() {
    for (std::size_t i = 0; i < kCount; ++i) {
      code_[32 * i] = static_cast<std::uint8_t>(i);
      CodeLoad load = load_of(32 * i, 32);
      load.address = 0x10000 + 0x100 * i;
      loads_.push_back(load);
    }
  }
  using Told::tell;
  void tell() { intake::tell_loads(loads_, told_); }
  std::size_t done() const { return static_cast<std::size_t>(std::ranges::count_if(told_, is_done)); }
  static fs::path dump() {
    return fs::path(jitquill_output_folder()) / ("jit-" + std::to_string(getpid()) + ".dump");
  }

  std::vector<CodeLoad> loads_;
  std::vector<Status> told_ = std::vector<Status>(kCount, Status::kNotFound);
};

TEST_F(ToldTogether, AreAsManyAsOneByOne) {
  tell();
  EXPECT_EQ(done(), kCount);
  EXPECT_EQ(value_of(Counter::functions_loaded), kCount);
  const std::uint64_t bytes = value_of(Counter::bytes_written);
  EXPECT_EQ(fs::file_size(dump()), bytes + 40);
  tell();
  EXPECT_EQ(value_of(Counter::duplicates_merged), kCount);
  EXPECT_EQ(fs::file_size(dump()), bytes + 40);
  for (CodeLoad& load : loads_) EXPECT_EQ(intake::tell_unload(load.address), Status::kOk);
  for (CodeLoad& load : loads_) EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(fs::file_size(dump()), 2 * bytes + 40);
}

TEST_F(ToldTogether, OneThatMayFaultIsToldToo) {
  const Gone gone;
  loads_[50].address = gone.address();
  loads_[50].bytes = {reinterpret_cast<const std::uint8_t*>(gone.address()), 32};
  tell();
  EXPECT_EQ(value_of(Counter::functions_loaded), kCount);
  EXPECT_EQ(value_of(Counter::code_unreadable), 1u);
}

// Of a batch that does not fit as a whole, those that do are written and the others are counted.
TEST_F(ToldTogether, AFullDiskTakesWhatFits) {
  ASSERT_EQ(tell(3500, 32), Status::kOk);
  const std::uint64_t group = value_of(Counter::bytes_written);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{fs::file_size(dump()) + 50 * group, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  tell();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(done(), 50u);
  EXPECT_EQ(value_of(Counter::functions_loaded), 51u);
  EXPECT_EQ(value_of(Counter::functions_lost), kCount - 50);
  EXPECT_EQ(value_of(Counter::outputs_switched_off), 1u);
}

TEST_F(Told, ImpossiblePlacesAreRefused) {
  const auto tell_range = [](std::uint64_t address, std::uint64_t size) {
    CodeLoad load;
    load.address = address;
    load.bytes = {reinterpret_cast<const std::uint8_t*>(address), static_cast<std::size_t>(size)};
    return intake::tell_load(load);
  };
  EXPECT_EQ(tell_range(0x1000, 0), Status::kEmptyCode);
  EXPECT_EQ(tell_range(0x1000, std::uint64_t{100} << 30), Status::kTooLarge);
  EXPECT_EQ(tell_range(~std::uint64_t{0} - 10, 100), Status::kTooLarge);
  EXPECT_EQ(value_of(Counter::functions_refused), 3u);
  EXPECT_EQ(value_of(Counter::functions_loaded), 0u);
}

}  // namespace
}  // namespace jitquill
