// A process that is stopped behind any of its instructions leaves a database that has all of an insert or
// nothing of it: every state of the file is looked at, one instruction at a time; and real kills besides.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "tests/oprofile_file.hpp"
#include "tests/readers/oprofile/reader.hpp"
#include "writer/oprofile/database.hpp"
#include "writer/oprofile/hash_file.hpp"

namespace jitquill::oprofile {
namespace {

bool is_long() {
  return std::getenv("JITQUILL_LONG") != nullptr;
}

using Counts = std::map<std::uint64_t, std::uint64_t>;
using Insert = std::pair<std::uint64_t, std::uint64_t>;

// What a child tells while it runs.
class SharedNumber {
 public:
  SharedNumber() {
    void* const room =
        ::mmap(nullptr, sizeof(*number_), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    number_ = new (room) std::atomic<std::uint64_t>(0);
  }
  ~SharedNumber() { ::munmap(number_, sizeof(*number_)); }
  std::atomic<std::uint64_t>& operator*() const { return *number_; }

 private:
  std::atomic<std::uint64_t>* number_;
};

// The counts behind each number of inserts, and what the file has.
class Watched {
 public:
  Watched(const tests::DatabaseFile& file, std::vector<Insert> inserts)
      : file_(file), inserts_(std::move(inserts)) {}

  // Of `done` inserts that have returned, and perhaps of one more.
  void look(std::uint64_t done) {
    file_.read_into(now_);
    if (now_ == last_) return;
    last_.swap(now_);
    ++states_;
    const oprofile_reader::File read = oprofile_reader::read(last_, {.was_killed = true});
    ASSERT_EQ(describe(read.violations), "") << "in insert " << done;
    if (is_long() || states_ % kReopenEach == 0) reopen(read.database.counts);
    for (; applied_ < done; ++applied_) apply(applied_);
    if (holds(read.database)) return;
    ASSERT_EQ(applied_, done) << "an insert came undone";
    ASSERT_LT(applied_, inserts_.size());
    apply(applied_++);
    ASSERT_TRUE(holds(read.database)) << "half an insert: " << done;
  }
  std::uint64_t states() const { return states_; }

 private:
  static constexpr std::uint64_t kReopenEach = 8;

  // Whoever goes on there has the same counts, and ends with a file that tells of no kill.
  void reopen(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& counts) {
    const tests::DatabaseFile copy;
    copy.put(last_);
    Database base;
    ASSERT_EQ(base.open(copy.handle()).status, Status::kOk);
    ASSERT_EQ(base.close(), Status::kOk);
    const oprofile_reader::File read = oprofile_reader::read(copy.bytes());
    ASSERT_EQ(describe(read.violations), "");
    ASSERT_TRUE(read.database.counts == counts);
  }
  void apply(std::uint64_t i) { counts_[inserts_[i].first] += inserts_[i].second; }
  bool holds(const oprofile_reader::Database& base) const {
    return std::equal(
        base.counts.begin(), base.counts.end(), counts_.begin(), counts_.end(),
        [](const auto& a, const auto& b) { return a.first == b.first && a.second == b.second; });
  }

  const tests::DatabaseFile& file_;
  std::vector<Insert> inserts_;
  std::vector<std::uint8_t> now_, last_;
  Counts counts_;
  std::uint64_t applied_ = 0;
  std::uint64_t states_ = 0;
};

[[noreturn]] void insert_all(Database& base, const std::vector<Insert>& inserts, const SharedNumber& done) {
  for (const auto& [key, count] : inserts) {
    if (base.add(key, count) != Status::kOk) ::_exit(1);
    (*done).fetch_add(1);
  }
  ::_exit(base.close() == Status::kOk ? 0 : 1);
}

// Behind each instruction of `run`, which does not return. False: it may not be done here.
template <class Run, class Look>
bool step_through(Run run, Look look) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    std::raise(SIGSTOP);
    run();
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) return false;
  while (WIFSTOPPED(status) && !testing::Test::HasFatalFailure()) {
    look();
    if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    ::waitpid(child, &status, 0);
  }
  if (!WIFEXITED(status)) ::kill(child, SIGKILL);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return true;
}

// New ones at the end, in front and between, and some that are there.
std::vector<Insert> mixed_inserts(std::uint64_t count) {
  std::vector<Insert> inserts;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t key = i % 3 == 0 ? 100 + i : i % 3 == 1 ? 100 - i : 37 * i % 101;
    inserts.emplace_back(i % 7 == 6 ? inserts[i / 2].first : key, i + 1);
  }
  return inserts;
}

Words odd_order(std::size_t width) {
  std::vector<std::uint8_t> order;
  for (std::size_t i = 0; i < width; ++i) order.push_back(static_cast<std::uint8_t>((i + 1) % width));
  return *Words::in_order(order);
}

TEST(OprofileKill, LeavesAWholeTreeBehindEachInstruction) {
  struct Run {
    std::size_t width;
    std::uint64_t inserts;
  };
  std::vector<Run> runs = {{2, 18}, {5, 4}, {16, 4}};
  if (is_long()) runs = {{1, 40}, {2, 80}, {3, 80}, {4, 80}, {5, 80}, {6, 80}, {7, 80}, {8, 80}, {16, 80}};
  for (const Run& run : runs) {
    const tests::DatabaseFile file;
    Database base;
    ASSERT_EQ(base.make(file.handle(), {.words = odd_order(run.width), .page_entries = 4, .pages = 1}),
              Status::kOk);
    const std::vector<Insert> inserts = mixed_inserts(run.inserts);
    const SharedNumber done;
    Watched watched(file, inserts);
    const bool is_allowed =
        step_through([&] { insert_all(base, inserts, done); }, [&] { watched.look((*done).load()); });
    if (!is_allowed) GTEST_SKIP() << "ptrace is not allowed";
    base.abandon();
    ASSERT_FALSE(HasFailure()) << run.width << " bytes";
    EXPECT_GT(watched.states(), 5 * run.inserts);
    EXPECT_EQ(describe(oprofile_reader::read(file.bytes()).violations), "");
  }
}

// The paths behind each number of adds, and what the file has.
class WatchedPaths {
 public:
  WatchedPaths(const tests::DatabaseFile& file, const std::vector<std::string>& paths)
      : file_(file), paths_(paths) {}

  void look(std::uint64_t done) {
    file_.read_into(now_);
    if (now_ == last_) return;
    last_.swap(now_);
    ++states_;
    const oprofile_reader::File read = oprofile_reader::read(last_, {.was_killed = true});
    ASSERT_EQ(describe(read.violations), "") << "in path " << done;
    std::set<std::string> there;
    for (const auto& [index, path] : read.paths) there.insert(path);
    for (std::uint64_t i = 0; i < done; ++i) ASSERT_TRUE(there.contains(paths_[i])) << paths_[i];
    if (is_long() || states_ % 16 == 0) reopen(read.paths);
  }
  std::uint64_t states() const { return states_; }

 private:
  void reopen(const std::map<std::uint64_t, std::string>& paths) {
    const tests::DatabaseFile copy;
    copy.put(last_);
    HashFile map;
    ASSERT_EQ(map.open(copy.handle()).status, Status::kOk);
    ASSERT_EQ(map.used(), paths.size() + 1);
    ASSERT_EQ(map.close(), Status::kOk);
    const oprofile_reader::File read = oprofile_reader::read(copy.bytes());
    ASSERT_EQ(describe(read.violations), "");
    ASSERT_TRUE(read.paths == paths);
  }

  const tests::DatabaseFile& file_;
  const std::vector<std::string>& paths_;
  std::vector<std::uint8_t> now_, last_;
  std::uint64_t states_ = 0;
};

// The pool is too small at first.
TEST(OprofileKill, LeavesAWholeHashMapBehindEachInstruction) {
  const std::vector<std::string> paths = {"/a",         "/tmp/jit/b", "/tmp/jit/function of a longer name",
                                          "/tmp/jit/c", "/usr",       "/usr/lib/x"};
  const std::vector<std::size_t> widths =
      is_long() ? std::vector<std::size_t>{1, 2, 3, 4, 5, 8, 9, 16} : std::vector<std::size_t>{3};
  for (const std::size_t width : widths) {
    const tests::DatabaseFile file;
    HashFile map;
    ASSERT_EQ(map.make(file.handle(), {.words = odd_order(width), .entries = 13, .pool_size = 8}),
              Status::kOk);
    const SharedNumber done;
    WatchedPaths watched(file, paths);
    const auto run = [&] {
      for (const std::string& path : paths) {
        if (map.add_path(path).status != Status::kOk) ::_exit(1);
        (*done).fetch_add(1);
      }
      ::_exit(map.close() == Status::kOk ? 0 : 1);
    };
    if (!step_through(run, [&] { watched.look((*done).load()); })) GTEST_SKIP() << "ptrace is not allowed";
    map.abandon();
    ASSERT_FALSE(HasFailure()) << width << " bytes";
    EXPECT_GT(watched.states(), 5 * paths.size());
    EXPECT_EQ(describe(oprofile_reader::read(file.bytes()).violations), "");
  }
}

TEST(OprofileKill, LeavesAWholeTreeAtAnyMoment) {
  std::mt19937 random(2);
  const int kills = is_long() ? 500 : 8;
  for (int i = 0; i < kills; ++i) {
    std::vector<Insert> inserts;
    for (std::uint64_t k = 0; k < 200'000; ++k) inserts.emplace_back(random() % 100'000, 1);
    const tests::DatabaseFile file;
    const SharedNumber done;
    const pid_t child = ::fork();
    if (child == 0) {
      Database base;
      if (base.make(file.handle(), {.words = Words::little_endian(4)}) != Status::kOk) ::_exit(1);
      insert_all(base, inserts, done);
    }
    while ((*done).load() == 0) ::usleep(50);
    ::usleep(static_cast<useconds_t>(random() % 20'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ASSERT_GT((*done).load(), 0u);
    Watched(file, inserts).look((*done).load());
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace jitquill::oprofile
