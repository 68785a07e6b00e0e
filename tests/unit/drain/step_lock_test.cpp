// Forks while the drain's thread walks call stacks: no child waits for a lock of libunwind's that nobody has.
#include "agent/stacks/step_lock.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <stop_token>
#include <thread>

#include "agent/base/safe_copy.hpp"
#include "agent/drain/functions.hpp"

namespace jitquill::stacks {
namespace {

class OwnCode final : public CodeSource {
 public:
  OwnCode() { functions.watch_this_process(); }
  bool find_tables(std::uint64_t address, CodeTables& tables) noexcept override {
    return functions.find_tables(address, 1, tables);
  }
  drain::Functions functions;
};

// Of one thread: how many frames it finds of a stack of its own.
class Walks {
 public:
  Walks() { walker_.use(&jitquill_stacks_v1); }
  [[gnu::noinline]] std::size_t walk() {
    Registers registers{};
    const auto* const frame = static_cast<const std::uint64_t*>(__builtin_frame_address(0));
    (void)safe_copy({reinterpret_cast<const std::uint8_t*>(frame), sizeof slice_},
                    reinterpret_cast<std::uint8_t*>(slice_), 0);
    registers.value[Registers::kBp] = frame[0];
    registers.value[Registers::kPc] = frame[1];
    registers.value[Registers::kSp] = reinterpret_cast<std::uint64_t>(frame + 2);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(slice_) + 16;
    return walker_.walk(registers, false, {registers.sp(), {bytes, sizeof slice_ - 16}}, code_, addresses_)
        .count;
  }

 private:
  OwnCode code_;
  StackWalker walker_;
  std::uint64_t slice_[200];  // of what is surely there
  std::uint64_t addresses_[8];
};

// -1: it hung.
int status_of(pid_t child) {
  constexpr int kMostWaitMs = 20'000;
  pollfd end{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  const bool has_ended = poll(&end, 1, kMostWaitMs) == 1;
  if (!has_ended) kill(child, SIGKILL);
  close(end.fd);
  int status = 0;
  waitpid(child, &status, 0);
  return has_ended ? status : -1;
}

template <class Child>
int status_of_child(Child child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child());
  return status_of(pid);
}

TEST(StepLock, IsFreeInTheChildOfAForkThatHadIt) {
  ASSERT_TRUE(StepLock::lock());
  EXPECT_EQ(status_of_child([] {
              StepLock::forget();
              return StepLock::was_cut_off() || !StepLock::lock() ? 1 : 0;
            }),
            0);
  StepLock::unlock();
}

TEST(StepLock, TellsAChildOfAStepThatWasCutOff) {
  std::atomic<int> state{0};
  std::thread stepping([&] {
    EXPECT_TRUE(StepLock::lock());
    state = 1;
    state.notify_all();
    state.wait(1);
    StepLock::unlock();
  });
  state.wait(0);
  EXPECT_FALSE(StepLock::lock());  // bounded
  EXPECT_EQ(status_of_child([] { return StepLock::was_cut_off() && StepLock::lock() ? 0 : 1; }), 0);
  state = 2;
  state.notify_all();
  stepping.join();
}

// One fork in some hundred would hit libunwind in a lock.
TEST(StepLock, LetsEachChildWalk) {
  const std::jthread walking([](const std::stop_token& is_over) {
    Walks walks;
    while (!is_over.stop_requested()) EXPECT_GE(walks.walk(), 1u);
  });
  Walks walks;
  EXPECT_GE(walks.walk(), 1u);
  const int forks = getenv("JITQUILL_LONG") != nullptr ? 5'000 : 500;
  for (int i = 0; i < forks; ++i) {
    while (!StepLock::lock()) continue;  // it is not fair, and its wait is bounded
    const int status = status_of_child([&] {
      StepLock::forget();
      return walks.walk() >= 1 ? 0 : 1;
    });
    StepLock::unlock();
    ASSERT_EQ(status, 0) << "child " << i;
  }
}

}  // namespace
}  // namespace jitquill::stacks
