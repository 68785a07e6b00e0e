// Functions that nobody names: what it costs to tell them.
#include "agent/intake/frames/frames.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "agent/base/counters.hpp"
#include "agent/intake/intake_lock.hpp"
#include "tests/support/temp_folder.hpp"
#include "writer/bytes/bytes.hpp"
#include "writer/unwind/eh_frame.hpp"
#define JITQUILL_LINK  // the agent is a part of this program
#include "jitquill/jitquill.h"

namespace {

using jitquill::Bytes;
using jitquill::counted;
using jitquill::Counter;
using jitquill::Unwinding;
using jitquill::intake::Budget;
using jitquill::unwind::EhFrameSection;

constexpr std::size_t kFunctions = 200;
constexpr std::size_t kSize = 16;

std::uint64_t value_of(Counter which) {
  return counted(static_cast<std::size_t>(which));
}

// A section with the frames of kFunctions functions, one behind the other.
class Frames {
 public:
  explicit Frames(std::uint64_t address) {
    EhFrameSection section(bytes_, jitquill::unwind::PointerForm::kAbsolute8);
    for (std::size_t i = 0; i < kFunctions; ++i) {
      const auto at = static_cast<std::int64_t>(address + i * kSize);
      EXPECT_EQ(section.add(Unwinding::from_events({}), at, kSize), jitquill::Status::kOk);
    }
    bytes_.u32(0);
    jitquill::frames::came(bytes_.view().data());
  }
  ~Frames() { take_back(); }
  Frames(const Frames&) = delete;
  Frames& operator=(const Frames&) = delete;
  void take_back() const { jitquill::frames::went(bytes_.view().data()); }

 private:
  Bytes bytes_;
};

void tell_due(std::uint64_t most) {
  (void)jitquill::intake::under_intake_lock(
      [&] { jitquill::frames::tell_those_that_waited(Budget(0, most)); });
}

class NamelessFrames : public testing::Test {
 protected:
  void SetUp() override {
    setenv("JITQUILL_OPTIONS", ("dir=" + folder_.path()).c_str(), 1);
    ASSERT_EQ(jitquill_start(nullptr), JITQUILL_OK);
    jitquill::reset_counters();
  }
  void TearDown() override {
    EXPECT_EQ(jitquill_stop(), JITQUILL_OK);
    unsetenv("JITQUILL_OPTIONS");
  }

 private:
  test_support::TempFolder folder_;
};

TEST_F(NamelessFrames, OfAFileCostOneLookForAllOfASection) {
  const Frames frames(reinterpret_cast<std::uint64_t>(&jitquill_start));
  frames.take_back();
  EXPECT_EQ(value_of(Counter::frames_heard), kFunctions);
  EXPECT_EQ(value_of(Counter::frames_no_code), kFunctions);
  EXPECT_EQ(value_of(Counter::frames_looks), 1u);
}

TEST_F(NamelessFrames, ThatWaitedAreToldInPieces) {
  void* const code = mmap(nullptr, kFunctions * kSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  constexpr useconds_t kWait = 101'000;
  usleep(kWait);
  tell_due(1'000'000);  // what other tests left
  {
    const Frames frames(reinterpret_cast<std::uint64_t>(code));
    usleep(kWait);
    for (const std::size_t told : {80u, 160u, 200u}) {
      tell_due(80);
      EXPECT_EQ(value_of(Counter::frames_nameless), told);
    }
  }
  munmap(code, kFunctions * kSize);
}

}  // namespace
