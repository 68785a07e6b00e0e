#include "agent/lanes/dead_pools.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "agent/base/counters.hpp"
#include "agent/base/start_time.hpp"
#include "agent/base/this_machine.hpp"
#include "agent/lanes/lane_folder.hpp"
#include "agent/lanes/pool.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/lanes/own_process.hpp"

namespace lanes_test {
namespace {

using namespace jitquill;
using namespace jitquill::lanes;

// A process that made a pool below `place` and is dead now; where it was.
std::string leave_pool(
    const std::string& place, const std::function<void()>& before_end = [] {}) {
  int path_pipe[2];
  EXPECT_EQ(pipe(path_pipe), 0);
  in_own_process([&] {
    LaneFolder folder;
    ASSERT_EQ(folder.make({place, {}, {}}, static_cast<std::uint32_t>(getpid())), 0);
    ASSERT_EQ(Pool::start({.folder = folder.path(), .output_folder = "/nowhere", .memory_bytes = 2 << 20}),
              0);
    before_end();
    const std::string path = folder.path();
    ASSERT_EQ(write(path_pipe[1], path.data(), path.size()), static_cast<ssize_t>(path.size()));
  });
  char path[4096] = {};
  EXPECT_GT(read(path_pipe[0], path, sizeof path - 1), 0);
  close(path_pipe[0]);
  close(path_pipe[1]);
  return path;
}

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

std::string parent_of(const std::string& path) {
  return std::filesystem::path(path).parent_path();
}

void set_age(const std::string& path, std::int64_t seconds) {
  timespec times[2] = {{time(nullptr) - seconds, 0}, {time(nullptr) - seconds, 0}};
  for (const auto& file : std::filesystem::directory_iterator(path))
    ASSERT_EQ(utimensat(AT_FDCWD, file.path().c_str(), times, 0), 0);
}

std::uint64_t dropped() {
  return counted(static_cast<std::size_t>(Counter::dead_pools_dropped));
}

constexpr std::uint64_t kNoBound = ~std::uint64_t{0};

TEST(DeadPools, AreKeptForRecoveryUnlessTheyWereEmptied) {
  const test_support::TempFolder place;
  const std::string kept = leave_pool(place.path());
  const std::string ended = leave_pool(place.path(), [] { Pool::set_ended(); });
  sweep_dead_pools(parent_of(kept).c_str(), kNoBound);
  EXPECT_TRUE(exists(kept + "/lanes"));
  EXPECT_FALSE(exists(ended));
}

TEST(DeadPools, ThatArePipesHoldNobodyUp) {
  const test_support::TempFolder place;
  const std::string spoiled = leave_pool(place.path());
  ASSERT_EQ(unlink((spoiled + "/lanes").c_str()), 0);
  ASSERT_EQ(mkfifo((spoiled + "/lanes").c_str(), 0600), 0);
  alarm(20);
  sweep_dead_pools(parent_of(spoiled).c_str(), 0);
  alarm(0);
  EXPECT_TRUE(exists(spoiled));
}

TEST(DeadPools, GoAfterADay) {
  const test_support::TempFolder place;
  const std::string old = leave_pool(place.path());
  const std::string young = leave_pool(place.path());
  set_age(old, 25 * 60 * 60);
  set_age(young, 23 * 60 * 60);
  const std::uint64_t before = dropped();
  sweep_dead_pools(parent_of(old).c_str(), kNoBound);
  EXPECT_FALSE(exists(old));
  EXPECT_TRUE(exists(young));
  EXPECT_EQ(dropped(), before + 1);
}

TEST(DeadPools, OfWhichOnlyALockIsLeftGoAfterADay) {
  const test_support::TempFolder place;
  const std::string parent = place.file("jitquill");
  for (const char* name : {"11", "12"}) {
    ASSERT_TRUE(std::filesystem::create_directories(parent + "/" + name));
    close(open((parent + "/" + name + "/lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  }
  std::filesystem::permissions(parent, std::filesystem::perms::owner_all);
  const timespec times[2] = {{time(nullptr) - 25 * 60 * 60, 0}, {time(nullptr) - 25 * 60 * 60, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, (parent + "/11").c_str(), times, 0), 0);
  sweep_dead_pools(parent.c_str(), kNoBound);
  EXPECT_FALSE(exists(parent + "/11"));
  EXPECT_TRUE(exists(parent + "/12")) << "its process may be making its lanes";
}

TEST(DeadPools, OverTheBoundGoOldestFirst) {
  const test_support::TempFolder place;
  std::vector<std::string> pools;
  for (int i = 0; i < 3; ++i) pools.push_back(leave_pool(place.path()));
  set_age(pools[0], 100);
  set_age(pools[1], 300);
  set_age(pools[2], 200);
  struct stat status {};
  ASSERT_EQ(stat((pools[0] + "/lanes").c_str(), &status), 0);
  const auto each = static_cast<std::uint64_t>(status.st_blocks) * 512;
  sweep_dead_pools(parent_of(pools[0]).c_str(), each + each / 2);
  EXPECT_TRUE(exists(pools[0]));
  EXPECT_FALSE(exists(pools[1]));
  EXPECT_FALSE(exists(pools[2]));
}

TEST(DeadPools, OfTheLivingOfOtherBootsAndLockedOnesStay) {
  const test_support::TempFolder place;
  LaneFolder living;
  ASSERT_EQ(living.make({place.path(), {}, {}}, static_cast<std::uint32_t>(getpid())), 0);
  in_own_process([&] {
    ASSERT_EQ(Pool::start({.folder = living.path(), .output_folder = "/nowhere", .memory_bytes = 2 << 20}),
              0);
    Pool::set_ended();
    sweep_dead_pools(living.parent(), 0);
    EXPECT_TRUE(exists(living.path()));
  });
  const std::string other_boot = leave_pool(place.path(), [] {
    reinterpret_cast<PoolHeader*>(Pool::memory().data())->boot_id[0] = 'x';
    Pool::set_ended();
  });
  const std::string locked = leave_pool(place.path(), [] { Pool::set_ended(); });
  const int folder = open(locked.c_str(), O_PATH | O_DIRECTORY);
  const int lock = lock_lane_folder(folder);
  ASSERT_GE(lock, 0);
  EXPECT_EQ(lock_lane_folder(folder), -EWOULDBLOCK);
  sweep_dead_pools(living.parent(), 0);
  EXPECT_TRUE(exists(other_boot));
  EXPECT_TRUE(exists(locked));
  close(lock);
  close(folder);
  sweep_dead_pools(living.parent(), 0);
  EXPECT_FALSE(exists(locked));
}

// The header of a process that runs `body`, and the pipe whose end it waits for.
struct Waiting {
  explicit Waiting(void (*body)(int wait_for)) {
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      close(ends[1]);
      body(ends[0]);
      _exit(0);
    }
    header.pid = static_cast<std::uint32_t>(pid);
    header.start_time_ticks = process_start_ticks(header.pid);
    header.pid_namespace = this_machine::pid_namespace();
    this_machine::read_boot_id(header.boot_id);
  }
  ~Waiting() { waitpid(static_cast<pid_t>(header.pid), nullptr, 0); }
  void end() {
    close(ends[0]);
    close(ends[1]);
    siginfo_t info;
    EXPECT_EQ(waitid(P_PID, header.pid, &info, WEXITED | WNOWAIT), 0);  // it stays a zombie
  }
  PoolHeader header{};
  int ends[2] = {};
};

void await_end(int pipe) {
  char byte = 0;
  EXPECT_EQ(read(pipe, &byte, 1), 0);
}

TEST(DeadPools, AreThoseOfZombies) {
  Waiting process(await_end);
  EXPECT_EQ(life_of(process.header), Life::kAlive);
  process.end();
  EXPECT_EQ(life_of(process.header), Life::kDead);
}

TEST(DeadPools, AreNotThoseOfProcessesWhoseFirstThreadEnded) {
  Waiting process([](int wait_for) {
    std::thread([=] {
      await_end(wait_for);
      _exit(0);
    }).detach();
    syscall(SYS_exit, 0);
  });
  const std::string stat = "/proc/" + std::to_string(process.header.pid) + "/stat";
  while (test_support::read_text(stat).find(") Z ") == std::string::npos) sched_yield();
  EXPECT_EQ(life_of(process.header), Life::kAlive);
  process.end();
  EXPECT_EQ(life_of(process.header), Life::kDead);
}

TEST(LaneFolder, TakesTheNextPlaceWhereAnotherCouldLookIn) {
  const test_support::TempFolder open_place, place;
  const std::string parent = open_place.path() + "/jitquill-" + std::to_string(geteuid());
  ASSERT_EQ(mkdir(parent.c_str(), 0755), 0);
  LaneFolder folder;
  ASSERT_EQ(folder.make({open_place.path(), {}, place.path()}, 5), 0);
  EXPECT_EQ(parent_of(parent_of(folder.path())), place.path());
  LaneFolder second;
  ASSERT_EQ(second.make({open_place.path(), {}, place.path()}, 5), 0);
  EXPECT_EQ(second.path(), folder.path() + std::string(".1"));
  const std::string path = second.path();
  second.remove();
  EXPECT_FALSE(exists(path));
}

}  // namespace
}  // namespace lanes_test
