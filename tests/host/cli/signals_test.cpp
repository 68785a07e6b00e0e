// Signals reach the host once, whoever they were sent to; the terminal and a shell's job control work as
// without the command.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/host/cli/cli.hpp"
#include "tests/host/cli/terminal.hpp"

namespace cli_test {
namespace {

constexpr char kInterruptKey[] = "\x03";
constexpr char kQuitKey[] = "\x1C";
constexpr char kStopKey[] = "\x1A";

class CliSignals : public testing::Test {
 protected:
  // The host, under `jitquill run -q`, as a job.
  Terminal job(const char* how = "") {
    return Terminal({JOB_SHELL, JITQUILL_COMMAND, "run", "-q", "--", SIGNAL_HOST, how}, folder_.path());
  }

  // The command's pid, once its host is ready.
  static pid_t command_of(Terminal& terminal) {
    if (!terminal.sees("job ")) return -1;
    const pid_t command = std::stoi(terminal.rest_of_line());
    return terminal.sees("ready\n") ? command : -1;
  }

  // The command takes the lowest number first: when this has come through, so has all that was to come.
  static constexpr int kMark = SIGWINCH;
  static void mark(Terminal& terminal, pid_t command) {
    kill(command, kMark);
    EXPECT_TRUE(terminal.sees("got WINCH")) << terminal.all();
  }
  // As the host says that it got each once.
  static std::string in_order(const std::vector<int>& signals) {
    std::string text;
    for (const int signal :
         {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP}) {
      if (std::find(signals.begin(), signals.end(), signal) == signals.end()) continue;
      text += (text.empty() ? "" : " ") + std::string(sigabbrev_np(signal)) + "=1";
    }
    return text;
  }

  // Ends the host. What it counted, without what it did not get.
  static std::string counts(Terminal& terminal) {
    terminal.type("end\n");
    if (!terminal.sees("counts ")) return "no counts in " + terminal.all();
    std::istringstream words(terminal.rest_of_line());
    std::string counted;
    for (std::string word; words >> word;) {
      if (!word.ends_with("=0")) counted += (counted.empty() ? "" : " ") + word;
    }
    return counted;
  }

  test_support::TempFolder folder_;
};

TEST_F(CliSignals, SentToTheCommandAreHandedOn) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCONT, SIGTSTP}) {
    Terminal terminal = job();
    const pid_t command = command_of(terminal);
    ASSERT_GT(command, 0) << terminal.all();
    kill(command, signal);
    EXPECT_TRUE(terminal.sees("got ")) << terminal.all();
    EXPECT_EQ(counts(terminal), std::string(sigabbrev_np(signal)) + "=1");
    EXPECT_TRUE(terminal.sees("exit 1\n")) << terminal.all();  // it recorded nothing
  }
}

TEST_F(CliSignals, SentToTheGroupReachTheHostOnce) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGTSTP}) {
    Terminal terminal = job();
    const pid_t command = command_of(terminal);
    ASSERT_GT(command, 0) << terminal.all();
    kill(-command, signal);
    EXPECT_TRUE(terminal.sees(std::string("got ") + sigabbrev_np(signal))) << terminal.all();
    mark(terminal, command);
    EXPECT_EQ(counts(terminal), in_order({signal, kMark}));
  }
}

// What is for the group, then what is for the command alone: the one must not be taken for the other.
TEST_F(CliSignals, OfOneKindAreToldApart) {
  Terminal terminal = job();
  const pid_t command = command_of(terminal);
  ASSERT_GT(command, 0) << terminal.all();
  for (const pid_t target : {-command, command, -command, command}) {
    kill(target, SIGUSR1);
    ASSERT_TRUE(terminal.sees("got USR1")) << terminal.all();
    mark(terminal, command);
  }
  EXPECT_EQ(counts(terminal), "USR1=4 WINCH=4");
}

TEST_F(CliSignals, KeysReachTheHostOnce) {
  for (const auto& [key, signal] :
       {std::pair{kInterruptKey, SIGINT}, {kQuitKey, SIGQUIT}, {kStopKey, SIGTSTP}}) {
    Terminal terminal = job();
    const pid_t command = command_of(terminal);
    ASSERT_GT(command, 0) << terminal.all();
    terminal.type(key);
    EXPECT_TRUE(terminal.sees("got ")) << terminal.all();
    mark(terminal, command);
    EXPECT_EQ(counts(terminal), in_order({signal, kMark}));
  }
}

TEST_F(CliSignals, AStoppedHostStopsTheJobAndGoesOnWithIt) {
  Terminal terminal = job("stops");
  ASSERT_GT(command_of(terminal), 0) << terminal.all();
  terminal.type(kStopKey);
  ASSERT_TRUE(terminal.sees("stopped ")) << terminal.all();
  terminal.type("fg\n");
  EXPECT_EQ(counts(terminal), "CONT=1");
  EXPECT_TRUE(terminal.sees("exit 1\n")) << terminal.all();
}

TEST_F(CliSignals, AHostThatDiesOfOneTakesTheCommandWithIt) {
  Terminal terminal({JOB_SHELL, JITQUILL_COMMAND, "run", "--", "sleep", "1000"}, folder_.path());
  ASSERT_TRUE(terminal.sees("job ")) << terminal.all();
  const pid_t command = std::stoi(terminal.rest_of_line());
  while (!has_child_named(command, "sleep")) usleep(1000);
  terminal.type(kInterruptKey);
  EXPECT_TRUE(terminal.sees("jitquill: 0 processes")) << terminal.all();
  EXPECT_TRUE(terminal.sees("signal 2\n")) << terminal.all();
}

TEST_F(CliSignals, OfTheHostAreThoseThatTheCommandWasGiven) {
  // nohup ignores SIGHUP; so must the host.
  Terminal terminal({JOB_SHELL, "env", "--ignore-signal=HUP", "--ignore-signal=CHLD", JITQUILL_COMMAND, "run",
                     "-q", "--", "grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"},
                    folder_.path());
  ASSERT_TRUE(terminal.sees("SigBlk:\t")) << terminal.all();
  EXPECT_EQ(terminal.rest_of_line(), "0000000000000000");
  ASSERT_TRUE(terminal.sees("SigIgn:\t")) << terminal.all();
  EXPECT_EQ(std::stoull(terminal.rest_of_line(), nullptr, 16), 1ull << (SIGHUP - 1) | 1ull << (SIGCHLD - 1));
}

}  // namespace
}  // namespace cli_test
