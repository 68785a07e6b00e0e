// What an eventlog makes of news that cannot be, or whose beginning is lost.
#include "tests/unit/writer/eventlog_story.hpp"

namespace jitquill {
namespace {

using Kind = RuntimeEventKind;
using eventlog_reader::File;

constexpr std::uint64_t kStart = tests::kLogStart;

class EventlogOrder : public tests::EventlogStory {};

// Else a refused event would take the number of a thread that stands for one of the system, and its place.
TEST_F(EventlogOrder, RemembersNoThreadOfWhatIsRefused) {
  tell(0, 10, {Kind::kThreadStopped, {2, 1, 0}});
  tell(0, 11, {Kind::kThreadFinished, {2}});
  flush(0);
  call(1, 20, 30);
  flush(1);
  EXPECT_EQ(refused(), 2u);
  EXPECT_EQ(end(100).named("CREATE_THREAD").at(0).numbers, std::vector<std::uint64_t>{2});
}

TEST_F(EventlogOrder, EnablesACapabilityThatWasDisabledBeforeItIsTaken) {
  tell(0, 10, {Kind::kCapabilityCreated, {0}});
  tell(0, 20, {Kind::kCapabilityDisabled, {0}});
  tell(0, 30, {Kind::kCapabilityTaken, {0}});
  tell(0, 40, {Kind::kCapabilityDisabled, {0}});
  tell(0, 50, {Kind::kCapabilityEnabled, {0}});
  tell(0, 60, {Kind::kCapabilityTaken, {0}});
  flush(0);
  const File file = end(100);
  EXPECT_EQ(file.named("CAP_CREATE").size(), 1u);
  EXPECT_EQ(file.named("CAP_DISABLE").size(), 2u);
  EXPECT_EQ(file.named("CAP_ENABLE").size(), 2u);
}

// What is lost may be the stop, the end of the collection, and which capability it has.
TEST_F(EventlogOrder, GoesOnBehindALoss) {
  tell(0, 10, {Kind::kCapabilityTaken, {0}});
  tell(0, 20, {Kind::kThreadCreated, {7}});
  tell(0, 21, {Kind::kThreadCreated, {8}});
  tell(0, 22, {Kind::kThreadRunning, {7}});
  tell(0, 23, {Kind::kGcBegin, {0}});
  thread(0).other(RunEventKind::kLost, kStart + 40, kStart + 30, 5);
  tell(0, 50, {Kind::kThreadRunning, {8}});
  tell(0, 60, {Kind::kThreadStopped, {8, 1, 0}});
  flush(0);
  thread(1).other(RunEventKind::kLost, kStart + 40, kStart + 30, 5);
  tell(1, 51, {Kind::kThreadRunning, {7}});
  tell(1, 61, {Kind::kThreadStopped, {7, 1, 0}});
  flush(1);
  const File file = end(100);
  EXPECT_EQ(refused(), 0u);
  EXPECT_EQ(file.named("GC_END").size(), 1u);
  EXPECT_EQ(file.named("RUN_THREAD").size(), 3u);
  EXPECT_EQ(file.named("STOP_THREAD").size(), 3u);
  EXPECT_EQ(file.named("CAP_CREATE").size(), 2u);
}

}  // namespace
}  // namespace jitquill
