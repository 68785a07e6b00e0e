// What intakes hand on: merged, bounded, and never over what the runtime itself told.
#include "agent/intake/told.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

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

TEST_F(Told, CodeThatIsGoneCostsACounter) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  CodeLoad load;
  load.address = reinterpret_cast<std::uint64_t>(page);
  load.bytes = {static_cast<const std::uint8_t*>(page), 100};
  load.name = "gone";
  load.may_move = true;
  EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(intake::tell_move(load.address, load.address + 128), Status::kOk);
  EXPECT_EQ(value_of(Counter::code_unreadable), 2u);
}

TEST_F(Told, ACopyIsTakenAsItIs) {
  void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  CodeLoad load = load_of(0, 64);
  load.address = reinterpret_cast<std::uint64_t>(page);
  EXPECT_EQ(intake::tell_load(load), Status::kOk);
  EXPECT_EQ(value_of(Counter::functions_loaded), 1u);
  EXPECT_EQ(value_of(Counter::code_unreadable), 0u);
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
