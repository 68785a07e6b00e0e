// A process that drains is killed at every one of its writes, and so is its recovery: the outputs are those
// of a process that recorded the same and was not.
#include "agent/drain/recover.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/drain/drained_process.hpp"
#include "tests/unit/drain/killing_syscall.hpp"
#include "tests/unit/drain/process_place.hpp"
#include "tests/unit/drain/told_trace.hpp"

namespace jitquill::drain {
namespace {

using tests::KillWhen;
using tests::Place;
using tests::PlainFolder;

constexpr std::size_t kPoolSize = Place::kPoolSize;
constexpr std::uint64_t kSteps = 4;
constexpr std::uint64_t kTop = tests::DrainedProcess::kTop;
FileLimits limits;  // of each Story

class Story {
 public:
  explicit Story(const Place& place)
      : memory_(place.map()),
        pool_(memory_),
        source_(pool_),
        output_(place.output.path()),
        code_folder_(place.lanes.path()) {
    lanes::PoolHeader& header = pool_.header();
    header.pid = 0x7FFFFFFF;  // nobody's
    header.start_time_ticks = 1;
    std::snprintf(header.boot_id, sizeof header.boot_id, "an earlier boot");
    std::snprintf(header.output_folder, sizeof header.output_folder, "%s", place.output.path().c_str());
    EXPECT_EQ(code_.begin({}, code_folder_), Status::kOk);
    folder_ = ::open(place.lanes.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    settings_.lanes = &source_;
    settings_.output = &output_;
    settings_.lane_folder = folder_;
    settings_.code_lane = ::open(place.lanes.file("code").c_str(), O_RDONLY | O_CLOEXEC);
    settings_.outputs.formats = tests::format_bit("calls") | tests::format_bit("counts") |
                                tests::format_bit("eventlog") | tests::format_bit("openj9");
    settings_.outputs.limits = limits;
    settings_.outputs.most_waiting = std::size_t{32} << 10;  // some is written before it is committed
  }
  ~Story() {
    ::close(folder_);
    munmap(memory_.data(), memory_.size());
  }

  // What was recorded by a kill: so many steps.
  static std::uint64_t& steps(std::span<std::uint8_t> memory) {
    auto* const rows = reinterpret_cast<lanes::Lane*>(memory.data() + lanes::kLaneTableAt);
    return rows[lanes::kMostLanes - 1].reserved;
  }
  void run(std::uint64_t count) {
    tests::kill_at(fatal, when);
    ASSERT_EQ(drain_->open(settings_, {1, 1}), Status::kOk);
    for (std::uint64_t i = 0; i < count; ++i) {
      record(i);
      steps(memory_) = i + 1;
      const std::uint64_t now = 1'000'000 * (i + 1);
      while (drain_->pass({now, now}).has_more) {
      }
    }
    ASSERT_EQ(drain_->finish(FrameEnd::kProcessEnd, {99'000'000, 99'000'000}), Status::kOk);
  }

  std::uint64_t fatal = ~std::uint64_t{0};
  KillWhen when = KillWhen::kBefore;

 private:
  void load(std::uint64_t id, std::uint64_t when_ns) {
    static constexpr std::uint8_t kCode[16] = {};
    CodeLoad load;
    load.id = id, load.when_ns = when_ns;
    load.address = 64 * id, load.bytes = kCode;
    load.name = "jitted";
    Written written;
    EXPECT_EQ(code_.load(load, written), Status::kOk);
  }
  // Two threads that go on, one that ends; frames stay open from step to step; new functions each time.
  void record(std::uint64_t step) {
    EXPECT_EQ(code_.function(step + 1, "step_" + std::to_string(step), "s.nib", 1), Status::kOk);
    load(100 + step, 1'000'000 * step + 3);
    if (step == 0) {
      for (const std::uint32_t tid : {11u, 12u}) (void)pool_.begin_thread(tid);
    }
    const std::uint64_t base = 1'000'000 * step;
    for (const std::uint32_t row : {0u, 1u}) {
      pool_.put(row, lanes::RecordKind::kEnter, step + 1, kTop - 1'000 * step, base + 10 + row);
      for (std::uint64_t i = 0; i < 600; ++i) {
        pool_.put(row, lanes::RecordKind::kEnter, i % (step + 1) + 1, kTop - 1'000 * step - 64,
                  base + 100 * i + 20);
        pool_.put(row, lanes::RecordKind::kLeave, 0, kTop - 1'000 * step - 64, base + 100 * i + 70 + row);
      }
      if (step == 2) pool_.put(row, lanes::RecordKind::kLeave, 0, kTop - 1'000, base + 900'000);
    }
    const std::uint32_t brief = pool_.begin_thread(static_cast<std::uint32_t>(100 + step));
    pool_.put(brief, lanes::RecordKind::kEnter, 1, kTop, base + 5);
    pool_.post_stack(brief, kTop - 0x10000, kTop + 8, base + 6);
    pool_.put_hole(brief, base + 7);
    pool_.put(brief, lanes::RecordKind::kEnterAddress, 0x1234, kTop - 8, base + 9);
    pool_.end_thread(brief);
  }

  std::span<std::uint8_t> memory_;
  test_support::LanePool pool_;
  tests::HandSource source_;
  PlainFolder output_, code_folder_;
  lanes::CodeLane code_;
  int folder_;
  DrainSettings settings_;
  std::unique_ptr<Drain> drain_ = std::make_unique<Drain>();
};

bool is_long() {
  return std::getenv("JITQUILL_LONG") != nullptr;
}

template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// `calls` by thread, a leaf as entry and end: which batch an event was in is no matter.
std::string told(const std::string& calls) {
  std::map<std::string, std::string> threads;
  std::istringstream lines(calls);
  for (std::string line; std::getline(lines, line);) {
    if (line[0] == '#') continue;
    const std::string thread = line.substr(20, 22);
    const std::string rest = line.substr(63);
    const std::size_t leaf = rest.find(';');
    const double at = std::stod(line), us = leaf == rest.npos ? 0 : std::stod(line.substr(45, 15));
    char end[64];
    std::snprintf(end, sizeof end, "%.9f", at + us / 1e6);
    threads[thread] += leaf == rest.npos ? line.substr(0, 17) + rest + "\n"
                                         : line.substr(0, 17) + rest.substr(0, leaf) + " {\n" + end + "}" +
                                               rest.substr(leaf + 1) + "\n";
  }
  std::string all;
  for (const auto& [thread, text] : threads) {
    for (const char c : text) {
      if (c != ' ') all += c;
    }
  }
  return all;
}

struct Outputs {
  std::string calls, counts;
  std::vector<std::string> eventlog, openj9;
};

class Killed : public testing::Test {
 protected:
  // Of a process that recorded so many steps and ended.
  static const Outputs& undisturbed(std::uint64_t steps) {
    static std::map<std::uint64_t, Outputs> known;
    if (!known.contains(steps)) {
      const Place place;
      EXPECT_EQ(in_child([&] { Story(place).run(steps); }), 0);
      known[steps] = {told(place.calls()), place.counts(), tests::told(place.eventlog()),
                      tests::told(place.openj9())};
      EXPECT_GT(known[steps].eventlog.size(), 2400 * steps);
      EXPECT_GT(place.counts().size(), steps == 0 ? 10u : 100u);
    }
    return known[steps];
  }
  static std::uint64_t writes() {
    const Place place;
    std::uint64_t* const shared = static_cast<std::uint64_t*>(
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(in_child([&] {
                Story(place).run(kSteps);
                *shared = tests::changes_made();
              }),
              0);
    const std::uint64_t count = *shared;
    munmap(shared, 4096);
    return count;
  }
  static void kill_story(const Place& place, std::uint64_t fatal, KillWhen when) {
    ASSERT_EQ(in_child([&] {
                Story story(place);
                story.fatal = fatal;
                story.when = when;
                story.run(kSteps);
              }),
              tests::kKilled);
  }
  static Recovery recovered(const Place& place) {
    return recover(place.lanes.path().c_str(), {.other_namespace = true});
  }
  static void expect_undisturbed(const Place& place) {
    const auto memory = place.map();
    const std::uint64_t steps = Story::steps(memory);
    munmap(memory.data(), memory.size());
    ASSERT_EQ(place.counts(), undisturbed(steps).counts) << steps;
    ASSERT_EQ(told(place.calls()), undisturbed(steps).calls) << steps;
    ASSERT_EQ(tests::told(place.eventlog()), undisturbed(steps).eventlog) << steps;
    ASSERT_EQ(tests::told(place.openj9()), undisturbed(steps).openj9) << steps;
  }
};

TEST_F(Killed, AtAnyWriteItsRecoveryGivesWhatWouldHaveBeen) {
  const std::uint64_t count = writes();
  ASSERT_GT(count, 30u);
  int before_the_first = 0;
  for (std::uint64_t fatal = 0; fatal < count; ++fatal) {
    for (const KillWhen when : {KillWhen::kBefore, KillWhen::kHalfway}) {
      // The state before a write is mostly that behind the one before it.
      if (when == KillWhen::kBefore && fatal % 4 != 0 && !is_long()) continue;
      SCOPED_TRACE("write " + std::to_string(fatal) + ", " + std::to_string(static_cast<int>(when)));
      const Place place;
      ASSERT_NO_FATAL_FAILURE(kill_story(place, fatal, when));
      const Recovery first = recovered(place);
      if (first == Recovery::kNoJournal) {
        ++before_the_first;  // no thread had written anything
        continue;
      }
      ASSERT_TRUE(first == Recovery::kDone || first == Recovery::kNothingToDo) << text(first);
      ASSERT_NO_FATAL_FAILURE(expect_undisturbed(place));
      EXPECT_EQ(recovered(place), Recovery::kNothingToDo);
      ASSERT_NO_FATAL_FAILURE(expect_undisturbed(place));
    }
  }
  EXPECT_LE(before_the_first, 8);
}

TEST_F(Killed, SoIsItsRecovery) {
  const std::uint64_t count = writes();
  for (std::uint64_t fatal = count / 2; fatal < count; fatal += is_long() ? 1 : 9) {
    bool is_done = false;
    for (std::uint64_t again = 0; !is_done; ++again) {
      SCOPED_TRACE("write " + std::to_string(fatal) + ", then " + std::to_string(again));
      const Place place;
      ASSERT_NO_FATAL_FAILURE(kill_story(place, fatal, KillWhen::kHalfway));
      is_done = in_child([&] {
                  tests::kill_at(again, again % 2 == 0 ? KillWhen::kHalfway : KillWhen::kAfter);
                  (void)recovered(place);
                }) == 0;
      const Recovery last = recovered(place);
      ASSERT_TRUE(last == Recovery::kDone || last == Recovery::kNothingToDo) << text(last);
      ASSERT_NO_FATAL_FAILURE(expect_undisturbed(place));
    }
  }
}

// The file that the journal says to go on in is there, whatever follows it.
TEST_F(Killed, AtAnyWriteTheNewestLogIsThereAndNoOther) {
  limits = {.bytes = 12 << 10, .kept = 1};
  const std::uint64_t count = writes();
  for (std::uint64_t fatal = 8; fatal < count; fatal += is_long() ? 1 : 7) {
    SCOPED_TRACE("write " + std::to_string(fatal));
    const Place place;
    ASSERT_NO_FATAL_FAILURE(kill_story(place, fatal, KillWhen::kHalfway));
    const Recovery first = recovered(place);
    ASSERT_TRUE(first == Recovery::kDone || first == Recovery::kNothingToDo) << text(first);
    const auto logs = test_support::files_below(place.output.path(), "", ".eventlog");
    ASSERT_EQ(logs.size(), 1u);
    EXPECT_EQ(describe(eventlog_reader::read_file(logs[0]).violations), "");
  }
  limits = {};
}

class Refused : public Killed {
 protected:
  Refused() { kill_story(place, 20, KillWhen::kHalfway); }
  template <class Change>
  Recovery with(Change change) {
    const auto memory = place.map();
    change(*reinterpret_cast<lanes::PoolHeader*>(memory.data()));
    munmap(memory.data(), memory.size());
    return recover(place.lanes.path().c_str(), {});
  }
  Place place;
};

TEST_F(Refused, WhileTheProcessLives) {
  struct stat status {};
  ASSERT_EQ(stat("/proc/self/ns/pid", &status), 0);
  const std::string boot = test_support::read_text("/proc/sys/kernel/random/boot_id");
  std::string line = test_support::read_text("/proc/self/stat");
  std::istringstream fields(line.substr(line.rfind(')') + 2));
  std::string field;
  for (int i = 0; i < 20; ++i) fields >> field;
  const std::uint64_t start = std::stoull(field);
  const auto mine = [&](lanes::PoolHeader& header) {
    header.pid = static_cast<std::uint32_t>(getpid());
    header.start_time_ticks = start;
    header.pid_namespace = status.st_ino;
    boot.copy(header.boot_id, 36);
  };
  EXPECT_EQ(with(mine), Recovery::kAlive);
  EXPECT_EQ(with([&](lanes::PoolHeader& h) { h.pid_namespace = 1; }), Recovery::kOtherNamespace);
  EXPECT_EQ(with([&](lanes::PoolHeader& h) { mine(h), h.start_time_ticks = start + 1; }), Recovery::kDone);
}

TEST_F(Refused, WhereNobodyKnowsOfWhichBootItIs) {
  EXPECT_EQ(with([](lanes::PoolHeader& h) { h.boot_id[0] = '\0'; }), Recovery::kOtherNamespace);
}

TEST_F(Refused, AfterAnotherBootNobodyLives) {
  EXPECT_EQ(with([](lanes::PoolHeader& h) { h.pid = static_cast<std::uint32_t>(getpid()); }),
            Recovery::kDone);
}

TEST_F(Refused, WhereSomethingIsMissing) {
  const std::string path = place.lanes.path();
  EXPECT_EQ(recover("/nowhere", {}), Recovery::kNoLanes);
  EXPECT_EQ(recover(path.c_str(), {.other_namespace = true, .output_folder = "/nowhere"}),
            Recovery::kNoOutput);
  ASSERT_EQ(rename(place.output.file("calls").c_str(), place.output.file("away").c_str()), 0);
  EXPECT_EQ(recovered(place), Recovery::kNoOutput);
  ASSERT_EQ(rename(place.output.file("away").c_str(), place.output.file("calls").c_str()), 0);
  ASSERT_EQ(rename(place.lanes.file("journal").c_str(), place.lanes.file("away").c_str()), 0);
  EXPECT_EQ(recovered(place), Recovery::kNoJournal);
  ASSERT_EQ(rename(place.lanes.file("away").c_str(), place.lanes.file("journal").c_str()), 0);
  EXPECT_EQ(recovered(place), Recovery::kDone);
  expect_undisturbed(place);
}

// They could name any folder of ours in theirs.
TEST_F(Refused, FoldersOfOtherUsers) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  constexpr uid_t kOther = 65'534;
  for (const std::string& folder : {place.lanes.path(), place.output.path()}) {
    ASSERT_EQ(chown(folder.c_str(), kOther, static_cast<gid_t>(-1)), 0);
    EXPECT_EQ(recovered(place), Recovery::kNotOurs);
    ASSERT_EQ(chown(folder.c_str(), 0, static_cast<gid_t>(-1)), 0);
  }
  EXPECT_EQ(recovered(place), Recovery::kDone);
  expect_undisturbed(place);
}

TEST_F(Refused, WaitsForNobodyWhereFilesArePipes) {
  for (const char* file : {"lanes", "journal", "code", "lock"}) {
    const Place spoiled;
    kill_story(spoiled, 20, KillWhen::kHalfway);
    (void)std::remove(spoiled.lanes.file(file).c_str());
    ASSERT_EQ(mkfifo(spoiled.lanes.file(file).c_str(), 0600), 0);
    alarm(20);
    (void)recovered(spoiled);
    alarm(0);
  }
}

// What somebody wrote over: any answer but a crash.
TEST_F(Refused, DamageIsNoCrash) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 30; ++round) {
    const Place damaged;
    kill_story(damaged, 10 + static_cast<std::uint64_t>(round) % 20, KillWhen::kHalfway);
    const auto memory = damaged.map();
    for (int i = 0; i < 300; ++i) {
      const std::size_t limit = i % 3 == 0 ? 8'192 : i % 3 == 1 ? lanes::kLaneTableAt + 1'024 : kPoolSize;
      const std::size_t from = i % 3 == 2 ? lanes::kChunksAt : 32;
      memory[from + random() % (limit - from)] = static_cast<std::uint8_t>(random());
    }
    for (std::size_t at = lanes::kChunksAt; at < lanes::kChunksAt + 400'000; at += 8'192) {
      if (random() % 2 == 0) memory[at + random() % 120] = static_cast<std::uint8_t>(random());
    }
    std::snprintf(reinterpret_cast<lanes::PoolHeader*>(memory.data())->output_folder, 2'048, "%s",
                  damaged.output.path().c_str());
    munmap(memory.data(), memory.size());
    EXPECT_EQ(in_child([&] { (void)recovered(damaged); }), 0) << round;
  }
}

}  // namespace
}  // namespace jitquill::drain
