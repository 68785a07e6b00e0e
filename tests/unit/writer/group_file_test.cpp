#include "writer/bytes/group_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

namespace jitquill {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string contents(int descriptor) {
  std::string text(static_cast<std::size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  EXPECT_EQ(pread(descriptor, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  lseek(descriptor, 0, SEEK_END);
  return text;
}

bool is_open(int descriptor) {
  return fcntl(descriptor, F_GETFD) != -1 || errno != EBADF;
}

// The kernel lets files grow to `size` bytes and no further, as a full disk would.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t size) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{size, before_.rlim_max};
    handler_ = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = SIG_DFL;
};

struct Pipe {
  Pipe(int flags, int capacity) {
    EXPECT_EQ(pipe2(ends, flags | O_CLOEXEC), 0);
    EXPECT_GE(fcntl(ends[1], F_SETPIPE_SZ, capacity), capacity);
  }
  ~Pipe() { close(ends[0]); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int ends[2] = {-1, -1};  // the second is the file's
};

TEST(GroupFile, GroupsFollowEachOther) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  EXPECT_EQ(file.append(bytes_of("first ")), Status::kOk);
  EXPECT_EQ(file.append(bytes_of("second")), Status::kOk);
  EXPECT_EQ(file.append({}), Status::kOk);
  EXPECT_EQ(contents(file.descriptor()), "first second");
  EXPECT_EQ(file.size(), 12u);
}

TEST(GroupFile, HalfAGroupIsCutOffAndTheNextOneFollowsTheLastWholeOne) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  {
    const FileSizeLimit limit(100);
    EXPECT_EQ(file.append(bytes_of(std::string(60, 'a'))), Status::kOk);
    EXPECT_EQ(file.append(bytes_of(std::string(60, 'b'))), Status::kNoSpace);
    EXPECT_EQ(file.append(bytes_of(std::string(60, 'c'))), Status::kNoSpace);
    EXPECT_EQ(file.append(bytes_of(std::string(40, 'd'))), Status::kOk);
    EXPECT_EQ(file.append(bytes_of("e")), Status::kNoSpace);
  }
  EXPECT_EQ(file.append(bytes_of(std::string(60, 'f'))), Status::kOk);
  EXPECT_EQ(file.size(), 160u);
  EXPECT_EQ(contents(file.descriptor()), std::string(60, 'a') + std::string(40, 'd') + std::string(60, 'f'));
}

TEST(GroupFile, ABudgetIsSharedAndHoldsOnlyWholeGroups) {
  Budget budget;
  budget.begin(100);
  GroupFile first, second, free;
  first.adopt(memfd_create("first", MFD_CLOEXEC), &budget);
  second.adopt(memfd_create("second", MFD_CLOEXEC), &budget);
  free.adopt(memfd_create("free", MFD_CLOEXEC));
  EXPECT_EQ(first.append(bytes_of(std::string(60, 'a'))), Status::kOk);
  EXPECT_EQ(second.append(bytes_of(std::string(41, 'b'))), Status::kFull);
  EXPECT_EQ(second.append(bytes_of(std::string(40, 'c'))), Status::kOk);
  EXPECT_EQ(first.append(bytes_of("d")), Status::kFull);
  EXPECT_EQ(free.append(bytes_of(std::string(200, 'e'))), Status::kOk);
  EXPECT_EQ(contents(first.descriptor()), std::string(60, 'a'));
  EXPECT_EQ(contents(second.descriptor()), std::string(40, 'c'));
  budget.set_limit(101);
  EXPECT_EQ(first.append(bytes_of("f")), Status::kOk);
  EXPECT_EQ(budget.used(), 101u);
}

TEST(GroupFile, AFullDeviceIsNoSpaceAndStaysOpen) {
  GroupFile file;
  file.adopt(open("/dev/full", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(file.is_open());
  EXPECT_EQ(file.append(bytes_of("lost")), Status::kNoSpace);
  EXPECT_TRUE(file.is_open());
  EXPECT_EQ(file.size(), 0u);
}

TEST(GroupFile, AReadOnlyFileIsAFailedWrite) {
  GroupFile file;
  file.adopt(open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(file.append(bytes_of("lost")), Status::kWriteFailed);
}

TEST(GroupFile, IsClosedWhereHalfAGroupCannotBeCutOff) {
  const Pipe pipe(O_NONBLOCK, 4096);
  GroupFile file;
  file.adopt(pipe.ends[1]);
  EXPECT_EQ(file.append(bytes_of(std::string(10'000, 'a'))), Status::kWriteFailed);
  EXPECT_FALSE(file.is_open());
  EXPECT_FALSE(is_open(pipe.ends[1]));
  EXPECT_EQ(file.append(bytes_of("b")), Status::kWriteFailed);
}

TEST(GroupFile, StaysOpenIfNothingOfTheGroupWasWritten) {
  const Pipe pipe(O_NONBLOCK, 4096);
  GroupFile file;
  file.adopt(pipe.ends[1]);
  EXPECT_EQ(file.append(bytes_of(std::string(4096, 'a'))), Status::kOk);
  EXPECT_EQ(file.append(bytes_of("b")), Status::kWriteFailed);
  EXPECT_TRUE(file.is_open());
}

TEST(GroupFile, InterruptedAndShortWritesAreFinished) {
  struct sigaction act {};
  struct sigaction before {};
  static std::atomic<int> handled;
  act.sa_handler = [](int) { ++handled; };  // without SA_RESTART: a waiting write returns
  sigaction(SIGUSR1, &act, &before);
  std::string group(1 << 20, '\0');
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = static_cast<char>(i * 7 + i / 251);
  const Pipe pipe(0, 4096);
  GroupFile file;
  file.adopt(pipe.ends[1]);
  Status status = Status::kOff;
  std::atomic<bool> is_done = false;
  std::jthread writer([&] {
    status = file.append(bytes_of(group));
    is_done = true;
  });
  std::string got(group.size(), '\0');
  for (std::size_t at = 0; at < got.size();) {
    // The pipe is full or will be: the first signal makes a short write of it, the next ones find nothing
    // written.
    for (int i = 0; i < 3 && at < got.size() - 8192; ++i) {
      const int before_this = handled;
      pthread_kill(writer.native_handle(), SIGUSR1);
      while (handled == before_this && !is_done) std::this_thread::yield();
    }
    const ssize_t count = read(pipe.ends[0], got.data() + at, std::min<std::size_t>(1000, got.size() - at));
    ASSERT_GT(count, 0);
    at += static_cast<std::size_t>(count);
  }
  writer.join();
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_EQ(status, Status::kOk);
  EXPECT_EQ(got, group);
  EXPECT_GT(handled, 0);
}

// The process closed the file's descriptor; another file has its number now, and holds `text`.
int put_in_place_of(const GroupFile& file, const std::string& text) {
  const int other = memfd_create("other", MFD_CLOEXEC);
  EXPECT_EQ(write(other, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  EXPECT_EQ(dup2(other, file.descriptor()), file.descriptor());
  return other;
}

TEST(GroupFile, NeverWritesIntoAFileThatHasItsNumberNow) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  EXPECT_EQ(file.append(bytes_of("ours")), Status::kOk);
  const int number = file.descriptor();
  const int other = put_in_place_of(file, "theirs");
  EXPECT_EQ(file.append(bytes_of("more")), Status::kWriteFailed);
  EXPECT_FALSE(file.is_open());
  EXPECT_EQ(contents(other), "theirs");
  EXPECT_TRUE(is_open(number));
  close(other);
  close(number);
}

TEST(GroupFile, NeverWritesIntoAnEmptyFileThatHasItsNumberNow) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  const int number = file.descriptor();
  const int other = put_in_place_of(file, "");
  EXPECT_EQ(file.append(bytes_of("ours")), Status::kWriteFailed);
  EXPECT_EQ(contents(other), "");
  EXPECT_TRUE(is_open(number));
  close(other);
  close(number);
}

TEST(GroupFile, GoesOnByAnotherDescriptorOfItsFileOnly) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  EXPECT_EQ(file.append(bytes_of("ours")), Status::kOk);
  const int number = file.descriptor();
  const int again = open(("/proc/self/fd/" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC);
  const int other = put_in_place_of(file, "theirs");
  EXPECT_EQ(file.append(bytes_of("more")), Status::kWriteFailed);
  EXPECT_FALSE(file.take_back(other));
  EXPECT_TRUE(is_open(other)) << "which stays its caller's";
  ASSERT_TRUE(file.take_back(again));
  EXPECT_EQ(file.append(bytes_of("more")), Status::kOk);
  EXPECT_EQ(contents(again), "oursmore");
  EXPECT_EQ(contents(other), "theirs");
  EXPECT_TRUE(is_open(number));
  close(other);
  close(number);
}

TEST(GroupFile, NeverClosesAFileThatHasItsNumberNow) {
  int number = -1;
  int other = -1;
  {
    GroupFile file;
    file.adopt(memfd_create("groups", MFD_CLOEXEC));
    number = file.descriptor();
    other = put_in_place_of(file, "");
  }
  EXPECT_TRUE(is_open(number));
  close(other);
  close(number);
}

TEST(GroupFile, ComesBackToItsEndIfTheProcessMovedItsPlace) {
  GroupFile file;
  file.adopt(memfd_create("groups", MFD_CLOEXEC));
  EXPECT_EQ(file.append(bytes_of("first ")), Status::kOk);
  EXPECT_EQ(lseek(file.descriptor(), 0, SEEK_SET), 0);
  EXPECT_EQ(file.append(bytes_of("second")), Status::kOk);
  EXPECT_EQ(contents(file.descriptor()), "first second");
}

TEST(GroupFile, ClosesWhatItHadWhenItAdoptsAnotherAndAtItsEnd) {
  const int first = memfd_create("first", MFD_CLOEXEC);
  const int second = memfd_create("second", MFD_CLOEXEC);
  {
    GroupFile file;
    file.adopt(first);
    EXPECT_EQ(file.append(bytes_of("a")), Status::kOk);
    file.adopt(second);
    EXPECT_FALSE(is_open(first));
    EXPECT_EQ(file.size(), 0u);
  }
  EXPECT_FALSE(is_open(second));
}

}  // namespace
}  // namespace jitquill
