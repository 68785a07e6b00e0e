// perf itself reads what the agent writes: names, whole stacks, lines, and code at an address used twice.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/host/jitdump/kill_progress.hpp"
#include "tests/tools/perf/elf_frames.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Frame;
using perf_run::Range;
using perf_run::Recording;
using perf_run::Request;
using perf_run::Sample;
using test_support::Ended;
using test_support::TempFolder;

class Perf : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = perf_run::why_not(folder_); !reason.empty()) GTEST_SKIP() << reason;
  }

  // The samples between the host's stamps; the dump has been judged.
  std::vector<Sample> record(const Request& request, const std::string& stamps = "jitted") {
    recording_ = perf_run::record(folder_, request);
    EXPECT_EQ(recording_.error, "");
    EXPECT_FALSE(only_dump(folder_).functions.empty());
    EXPECT_TRUE(recording_.stamps.count(stamps)) << recording_.host_out << recording_.host_err;
    return recording_.between(recording_.stamps[stamps]);
  }

  // Every sample in an executable mapping of no file has the name of a function.
  void expect_names(const std::vector<Sample>& samples) {
    EXPECT_FALSE(recording_.anonymous.empty());
    std::size_t jitted = 0;
    for (const Sample& sample : samples) {
      ASSERT_FALSE(sample.frames.empty());
      const Frame& frame = sample.frames.front();
      const bool anonymous = std::any_of(recording_.anonymous.begin(), recording_.anonymous.end(),
                                         [&](const Range& range) { return range.has(sample.ip); });
      if (!anonymous) continue;
      ++jitted;
      EXPECT_TRUE(frame.symbol.starts_with("jit_")) << std::hex << sample.ip << " " << frame.symbol;
    }
    EXPECT_GT(jitted, samples.size() / 10);
  }

  TempFolder folder_;
  Recording recording_;
};

std::string describe(const Sample& sample) {
  std::string text = std::to_string(sample.when_ns);
  for (const Frame& frame : sample.frames) text += "\n  " + frame.symbol + " (" + frame.object + ")";
  return text;
}

// At least 99 of 100, over all samples: those in the kernel, the vdso, the PLT and prologues too.
void expect_whole_stacks(const std::vector<Sample>& samples) {
  ASSERT_GE(samples.size(), 1'000u);
  std::size_t whole = 0;
  std::string broken;
  for (const Sample& sample : samples) {
    if (sample.reaches("main"))
      ++whole;
    else if (broken.size() < 4'000)
      broken += describe(sample) + "\n";
  }
  EXPECT_GE(100 * whole, 99 * samples.size()) << whole << " of " << samples.size() << ", broken:\n" << broken;
  std::printf("%zu of %zu stacks reach main\n", whole, samples.size());
}

// The most frames of one jitted function in one stack.
std::ptrdiff_t deepest(const std::vector<Sample>& samples) {
  std::ptrdiff_t most = 0;
  for (const Sample& sample : samples) {
    std::map<std::string, std::ptrdiff_t> frames;
    for (const Frame& frame : sample.frames) {
      if (frame.object.find("/jitted-") != std::string::npos) most = std::max(most, ++frames[frame.symbol]);
    }
  }
  return most;
}

struct StackCase {
  const char* name;
  const char* spacing;
  const char* options;
};

std::ostream& operator<<(std::ostream& to, const StackCase& stack) {
  return to << stack.name;
}

class PerfStacks : public Perf, public testing::WithParamInterface<StackCase> {};

TEST_P(PerfStacks, ReachMain) {
  Request request;
  request.host = {STACK_HOST, GetParam().spacing, "1200"};
  request.agent_options = GetParam().options;
  const auto samples = record(request);
  expect_whole_stacks(samples);
  expect_names(samples);
  std::set<std::string> leaves;  // frames of every shape, and C called from each
  for (const Sample& sample : samples) leaves.insert(sample.frames.front().symbol);
  for (const char* leaf :
       {"jit_work_0", "jit_work_1", "jit_work_2", "jit_work_3", "jit_work_4", "jit_work_5", "native_leaf"}) {
    EXPECT_TRUE(leaves.count(leaf)) << leaf;
  }
  EXPECT_GE(deepest(samples), 31);
}

INSTANTIATE_TEST_SUITE_P(Code, PerfStacks,
                         testing::Values(StackCase{"WithRoom", "roomy", ""},
                                         StackCase{"WithRoomAlone", "roomy", "unwind=gap"},
                                         StackCase{"Packed", "packed", ""}),
                         [](const auto& stack) { return std::string(stack.param.name); });

// The control: without our tables perf cannot get through, so the test above proves them.
TEST_F(Perf, StacksEndInJittedCodeWithoutUnwinding) {
  Request request;
  request.host = {STACK_HOST, "roomy", "1200"};
  request.agent_options = "unwind=off";
  const auto samples = record(request);
  ASSERT_GE(samples.size(), 1'000u);
  std::size_t jitted = 0;
  std::string whole;
  for (const Sample& sample : samples) {
    if (!sample.has_symbol_starting("jit_")) continue;
    ++jitted;
    if (sample.reaches("main")) whole += describe(sample) + "\n";
  }
  EXPECT_GT(jitted, 900u);
  EXPECT_EQ(whole, "");
  expect_names(samples);
}

TEST_F(Perf, ShowsTheLineOfEachSample) {
  Request request;
  request.host = {LINES_HOST, "1000"};
  request.stacks = false;
  request.srclines = true;
  request.frequency = "500";
  const auto samples = record(request);
  ASSERT_EQ(recording_.lines.size(), 4u);
  std::set<std::uint64_t> seen;
  std::size_t jitted = 0;
  for (const Sample& sample : samples) {
    ASSERT_FALSE(sample.frames.empty());
    const Frame& frame = sample.frames.front();
    for (const Range& line : recording_.lines) {
      if (!line.has(sample.ip)) continue;
      ++jitted;
      EXPECT_EQ(frame.srcline, "lines.nib:" + std::to_string(line.number));
      seen.insert(line.number);
    }
  }
  EXPECT_GT(jitted, 300u);
  EXPECT_EQ(seen, (std::set<std::uint64_t>{7, 8, 9, 1200}));
}

TEST_F(Perf, NamesCodeAtAnAddressUsedTwiceByTime) {
  Request request;
  request.host = {REJIT_HOST, "400"};
  request.frequency = "1000";
  request.stacks = false;
  (void)record(request, "jit_version_one");
  for (const std::string version : {"jit_version_one", "jit_version_two"}) {
    std::size_t right = 0;
    for (const Sample& sample : recording_.between(recording_.stamps[version])) {
      for (const Frame& frame : sample.frames) {
        if (!frame.symbol.starts_with("jit_")) continue;
        EXPECT_EQ(frame.symbol, version);
        ++right;
      }
    }
    EXPECT_GT(right, 200u) << version;
  }
  expect_names(recording_.samples);
}

class PerfForked : public Perf, public testing::WithParamInterface<const char*> {};

// Code of before the fork has its name in both, that of after it has each its own.
TEST_P(PerfForked, CodeOfBeforeAndAfterResolvesInBoth) {
  Request request;
  request.host = {FORK_HOST, "300"};
  request.agent_options = GetParam();
  request.frequency = "1000";
  recording_ = perf_run::record(folder_, request);
  ASSERT_EQ(recording_.error, "");
  ASSERT_EQ(dump_files(folder_).size(), 2u);
  for (const std::string who : {"child", "parent"}) {
    for (const auto& [stamps, name] : {std::pair("inherited_" + who, std::string("jit_inherited")),
                                       std::pair("jit_of_" + who, "jit_of_" + who)}) {
      const auto samples = recording_.between(recording_.stamps[stamps]);
      std::size_t right = 0;
      for (const Sample& sample : samples) {
        ASSERT_FALSE(sample.frames.empty());
        const std::string& symbol = sample.frames.front().symbol;
        EXPECT_NE(symbol, "[unknown]") << stamps;
        if (symbol.starts_with("jit_")) {
          EXPECT_EQ(symbol, name);
          if (sample.reaches("main")) ++right;
        }
      }
      EXPECT_GT(right, 200u) << stamps;
      EXPECT_GE(100 * right, 90 * samples.size()) << stamps;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(With, PerfForked, testing::Values("", "reannounce=1"),
                         [](const auto& with) { return with.index == 0 ? "Defaults" : "Reannouncement"; });

#ifdef DEMO_JIT
class PerfNib : public Perf, public testing::WithParamInterface<const char*> {};

// Each sample in code that the dump has is called as the dump calls it, and no other code is without a name.
TEST_P(PerfNib, StacksReachMainAndNamesAreRight) {
  Request request;
  request.host = {DEMO_JIT, "--time", GetParam()};
  request.frequency = "1000";
  const auto samples = record(request);
  expect_whole_stacks(samples);
  const auto dump = only_dump(folder_);
  std::size_t jitted = 0;
  for (const Sample& sample : samples) {
    const Frame& frame = sample.frames.at(0);
    EXPECT_FALSE(frame.symbol == "[unknown]") << describe(sample);
    for (const auto& function : dump.functions) {
      if (sample.ip < function.address || sample.ip >= function.address + function.code.size()) continue;
      EXPECT_EQ(frame.symbol, function.name);
      ++jitted;
    }
  }
  EXPECT_GT(jitted, 900u);
  EXPECT_GE(deepest(samples), 31);
}

// Callers and callees of jitted functions, recursion once, hooks left out, and how often each was met.
std::map<std::string, std::size_t> stacks_of(const std::vector<Sample>& samples) {
  std::map<std::string, std::size_t> stacks;
  for (const Sample& sample : samples) {
    std::string stack, last;
    for (const Frame& frame : sample.frames) {
      if (frame.object.find("/jitted-") == std::string::npos || frame.symbol == last) continue;
      if (frame.symbol == "jitquill_site_thunks") continue;
      last = frame.symbol;
      stack += last + " < ";
    }
    ++stacks[stack];
  }
  return stacks;
}

// What one sample in a hundred and more shows is in the others.
void expect_met(const std::vector<Sample>& samples, const std::vector<Sample>& others) {
  const auto stacks = stacks_of(others);
  for (const auto& [stack, count] : stacks_of(samples)) {
    const bool is_usual = 100 * count >= samples.size();
    EXPECT_TRUE(!is_usual || stacks.contains(stack)) << stack << " " << count;
  }
}

struct CallingProgram {
  const char* name;
  const char* functions;
  const char* round;  // of main
  int rounds;         // untraced
  int traced_rounds;
};

constexpr CallingProgram kCalling[] = {
    {"Recursion",
     "fn leaf(n: int) -> int { return n * 3 % 7; }\n"
     "fn fib(n: int) -> int {\n"
     "  if n < 2 { return leaf(n); }\n"
     "  let own = leaf(n);\n"
     "  return fib(n - 1) + fib(n - 2) + own;\n"
     "}\n",
     "fib(27)", 600, 40},
    {"TailCalls",
     "fn hop(n: int, sum: int) -> int { if n == 0 { return sum; } return skip(n - 1, sum + n); }\n"
     "fn skip(n: int, sum: int) -> int { return hop(n, sum % 1000); }\n"
     "fn calm(n: int) -> int { let hops = hop(n, 1); return hops + 1; }\n",
     "calm(100000)", 2'400, 180},
};

std::ostream& operator<<(std::ostream& to, const CallingProgram& program) {
  return to << program.name;
}

std::string calling_program(const TempFolder& folder, const CallingProgram& program, int rounds) {
  const std::string path = folder.file("calls_" + std::to_string(rounds) + ".nib");
  std::ofstream(path) << program.functions << "fn main() { var i = 0; while i < " << rounds << " { print("
                      << program.round << "); i = i + 1; } }\n";
  return path;
}

class PerfTraced : public Perf, public testing::WithParamInterface<CallingProgram> {};

// Without those of the thread that drains the lanes.
std::vector<Sample> of_host(std::vector<Sample> samples) {
  std::erase_if(samples, [](const Sample& sample) {
    return std::ranges::any_of(sample.frames, [](const Frame& frame) {
      return frame.symbol == "start_thread" || frame.symbol.starts_with("jitquill::drain::");
    });
  });
  return samples;
}

// A call costs some twenty times as much then. In hooks and thunks, the stack is that of their function.
TEST_P(PerfTraced, StacksAreTheSameAsUntraced) {
  Request request;
  request.frequency = "2000";
  const TempFolder other;
  request.host = {DEMO_JIT, "--time", calling_program(other, GetParam(), GetParam().rounds)};
  Recording plain = perf_run::record(other, request);
  ASSERT_EQ(plain.error, "");
  const auto untraced = plain.between(plain.stamps["jitted"]);
  request.host.back() = calling_program(folder_, GetParam(), GetParam().traced_rounds);
  request.agent_options = "formats=jitdump,counts hooks=*";
  const auto traced = of_host(record(request));
  expect_whole_stacks(untraced);
  expect_whole_stacks(traced);
  expect_met(untraced, traced);
  expect_met(traced, untraced);
  std::size_t in_hooks = 0, in_thunks = 0;
  for (const Sample& sample : traced) {
    const std::string& symbol = sample.frames.at(0).symbol;
    in_hooks += symbol.starts_with("jitquill_") ? 1 : 0;
    in_thunks += symbol == "jitquill_site_thunks" ? 1 : 0;
  }
  EXPECT_GT(in_hooks, 0u) << "nothing was traced";
  std::printf("%zu of %zu samples in hooks, %zu in thunks\n", in_hooks, traced.size(), in_thunks);
}

INSTANTIATE_TEST_SUITE_P(Calls, PerfTraced, testing::ValuesIn(kCalling),
                         [](const auto& program) { return std::string(program.param.name); });

INSTANTIATE_TEST_SUITE_P(Programs, PerfNib, testing::Values(FIB_NIB, DEEP_NIB), [](const auto& program) {
  const std::string path = program.param;
  const std::size_t start = path.rfind('/') + 1;
  return path.substr(start, path.rfind('.') - start);
});
#endif

// Of a killed process, with few functions: inject makes a file of each.
TEST_F(Perf, InjectsTheDumpOfAKilledProcess) {
  constexpr std::uint32_t kTarget = 100;
  const std::string shared = folder_.file("progress");
  KillProgress* progress = map_kill_progress(shared.c_str());
  ASSERT_NE(progress, nullptr);
  test_support::Command command = with_agent(
      folder_, "perf",
      {"record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data", "--", KILL_HOST, shared, "300"});
  test_support::Child recorder(command);
  const time_t deadline = time(nullptr) + 60;
  while (progress->returned.load() < kTarget && time(nullptr) < deadline) sched_yield();
  ASSERT_GT(progress->pid.load(), 0);
  kill(progress->pid.load(), SIGKILL);
  (void)recorder.wait(60);  // perf ends as its workload did
  jitdump_reader::Expectations killed;
  killed.may_be_torn = true;
  const auto dump = only_dump(folder_, killed);
  ASSERT_GE(dump.functions.size(), progress->returned.load());
  const Ended injected = perf_run::inject(folder_, "perf.data", "perf.jit.data");
  EXPECT_TRUE(injected.succeeded()) << injected.describe();
  EXPECT_EQ(test_support::files_below(folder_.file("out"), "jitted-", ".so").size(), dump.functions.size());
  munmap(progress, sizeof *progress);
}

}  // namespace
