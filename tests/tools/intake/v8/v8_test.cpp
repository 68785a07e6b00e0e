// Node with nothing but the preload, as perf sees it and as its programs do.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Frame;
using perf_run::Recording;
using perf_run::Request;
using perf_run::Sample;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

const std::string kDuration = "700";  // ms of CPU time

std::string program(const std::string& name) {
  return std::string(PROGRAMS) + "/" + name;
}

bool is_jitted(const Frame& frame) {
  return frame.object.find("/jitted-") != std::string::npos;
}

// Neither a file's nor the kernel's.
bool is_nameless(const Frame& frame) {
  if (frame.object.starts_with("//anon") || frame.object.starts_with("/tmp/perf-")) return true;
  return !frame.object.starts_with("/") && !frame.object.starts_with("[kernel") &&
         !frame.object.starts_with("[vdso]");
}

// "JS:*hot /home/me/hot.js:6:13"; V8 10 says "LazyCompile:*hot ..." or "Function:^hot ...".
bool is_function(const Frame& frame, const std::string& name) {
  const std::size_t colon = frame.symbol.find(':');
  if (colon == std::string::npos || !is_jitted(frame)) return false;
  const std::size_t begin = frame.symbol.find_first_not_of("*^~+'", colon + 1);
  return begin != std::string::npos && frame.symbol.compare(begin, name.size() + 1, name + " ") == 0;
}

class V8 : public testing::Test {
 protected:
  void SetUp() override {
    if (!run(node({"--version"})).succeeded()) GTEST_SKIP() << "node is not installed";
  }

  static Command node(std::vector<std::string> arguments) {
    Command command;
    command.words = {"node"};
    command.words.insert(command.words.end(), arguments.begin(), arguments.end());
    return command;
  }

  bool has_dump() const { return !test_support::files_below(folder_.file("out"), "jit-", ".dump").empty(); }

  // A number of the process's statistics.
  std::uint64_t counted(const std::string& name) {
    std::uint64_t sum = 0;
    for (const std::string& file : test_support::files_below(folder_.path(), "stats", "")) {
      std::istringstream lines(test_support::read_text(file));
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(name + "\t")) sum += std::stoull(line.substr(name.size() + 1));
      }
    }
    return sum;
  }

  TempFolder folder_;
};

class V8InPerf : public V8 {
 protected:
  void SetUp() override {
    V8::SetUp();
    if (IsSkipped()) return;
    if (const std::string reason = perf_run::why_not(folder_); !reason.empty()) GTEST_SKIP() << reason;
  }

  std::vector<Sample> record(std::vector<std::string> arguments, bool srclines = false) {
    Request request;
    request.host = node(std::move(arguments)).words;
    request.host.push_back(kDuration);
    request.call_graph = call_graph_;
    request.srclines = srclines;
    request.stacks = !srclines;  // perf looks for the line of every frame, in node's 100 MB too
    Recording recording = perf_run::record(folder_, request);
    EXPECT_EQ(recording.error, "");
    EXPECT_EQ(recording.host_out.substr(0, 7), "number\n") << recording.host_err;
    EXPECT_EQ(counted("v8_refused"), 0u);
    EXPECT_EQ(counted("v8_lines_lost"), 0u);
    EXPECT_EQ(counted("lines_refused"), 0u);
    expect_names(recording.samples);
    return recording.samples;
  }

  // Of the samples in executable memory of no file, 99 of 100.
  static void expect_names(const std::vector<Sample>& samples) {
    std::size_t named = 0;
    std::size_t nameless = 0;
    for (const Sample& sample : samples) {
      if (sample.frames.empty()) continue;
      if (is_jitted(sample.frames[0])) ++named;
      if (is_nameless(sample.frames[0])) ++nameless;
    }
    std::cout << named << " of " << named + nameless << " samples in code of no file have a name\n";
    EXPECT_GE(named, 300u);
    EXPECT_GE(named, 99 * nameless);
  }

  static std::vector<Sample> of_function(const std::vector<Sample>& samples, const std::string& name) {
    std::vector<Sample> found;
    for (const Sample& sample : samples) {
      if (!sample.frames.empty() && is_function(sample.frames[0], name)) found.push_back(sample);
    }
    EXPECT_GE(found.size(), 100u) << name;
    return found;
  }

  void expect_deep_stacks(const std::string& call_graph);

  // Each is of `file`, 99 of 100 of these lines.
  static void expect_lines(const std::vector<Sample>& samples, const std::string& file, int first, int last) {
    std::size_t right = 0;
    std::map<std::string, int> wrong;
    for (const Sample& sample : samples) {
      const std::string& place = sample.frames[0].srcline;
      const std::size_t colon = place.rfind(':');
      const int line = colon == std::string::npos ? 0 : std::atoi(place.c_str() + colon + 1);
      if (place.starts_with(file + ":") && line >= first && line <= last) {
        ++right;
      } else {
        ++wrong[place];
      }
    }
    std::cout << right << " of " << samples.size() << " samples have the right line\n";
    EXPECT_GE(right * 100, samples.size() * 99) << testing::PrintToString(wrong);
  }

  std::string call_graph_ = "fp";
};

TEST_F(V8InPerf, HasNamesAndLines) {
  const auto samples = of_function(record({program("hot.js")}, true), "hot");
  // The body of the loop, and what is inlined there; 1 of 100 may be in the prologue.
  auto in_inner = samples;
  std::erase_if(in_inner,
                [](const Sample& sample) { return !sample.frames[0].srcline.ends_with("hot.js:3"); });
  auto in_loop = samples;
  std::erase_if(in_loop, [](const Sample& sample) { return sample.frames[0].srcline.ends_with("hot.js:3"); });
  EXPECT_GE(in_inner.size(), samples.size() / 20);
  EXPECT_GE(in_loop.size(), samples.size() / 4);
  expect_lines(in_loop, "hot.js", 8, 12);
}

TEST_F(V8InPerf, HasLinesOfModules) {
  expect_lines(of_function(record({program("module.mjs")}, true), "in_module"), "module.mjs", 5, 6);
}

void V8InPerf::expect_deep_stacks(const std::string& call_graph) {
  call_graph_ = call_graph;
  const auto samples = of_function(record({program("recursion.js")}), "fib");
  const auto deep = std::count_if(samples.begin(), samples.end(), [](const Sample& sample) {
    return std::count_if(sample.frames.begin(), sample.frames.end(),
                         [](const Frame& frame) { return is_function(frame, "fib"); }) >= 4;
  });
  std::cout << deep << " of " << samples.size() << " stacks are deep\n";
  EXPECT_GE(static_cast<std::size_t>(deep) * 10, samples.size() * 9);
}

TEST_F(V8InPerf, HasStacksByFramePointers) {
  expect_deep_stacks("fp");
}

TEST_F(V8InPerf, HasStacksByUnwindingTables) {
  expect_deep_stacks("dwarf,16384");
}

TEST_F(V8InPerf, HasNamesOfWorkers) {
  of_function(record({program("workers.js")}), "in_worker");
  EXPECT_EQ(counted("v8_isolates"), 4u);
}

TEST_F(V8InPerf, HasNamesOfCodeThatMoved) {
  record({"--expose-gc", "--stress-compaction", program("moves.js")});
  EXPECT_GE(counted("functions_moved"), 100u);
  // Some moves before its announcement, which then is of the new place (V8 13).
  EXPECT_LE(counted("unloads_unknown") * 100, counted("functions_moved"));
  EXPECT_EQ(counted("code_unreadable"), 0u);
}

TEST_F(V8InPerf, HasNamesOfWasm) {
  const auto samples = record({program("wasm.js")});
  const auto in_wasm = std::count_if(samples.begin(), samples.end(), [](const Sample& sample) {
    return sample.has_symbol_starting("JS:wasm-function[0]") ||
           sample.has_symbol_starting("Function:wasm-function[0]");
  });
  EXPECT_GE(in_wasm, 100);
}

// What a program prints, and how it ends, with the preload and without.
class V8Alike : public V8, public testing::WithParamInterface<std::vector<std::string>> {};

TEST_P(V8Alike, IsWhatItIsWithoutUs) {
  std::vector<std::string> arguments = GetParam();
  Command plain = node(arguments);
  Command preloaded = with_preload(folder_, "node", arguments);
  for (Command* command : {&plain, &preloaded}) {
    command->folder = PROGRAMS;
    command->environment.emplace_back("NODE_OPTIONS", "--max-old-space-size=500");
  }
  const Ended without = run(plain);
  const Ended with = run(preloaded);
  EXPECT_EQ(with.exit_code, without.exit_code);
  EXPECT_EQ(with.signal, without.signal);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(with.err, without.err);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, V8Alike,
    testing::Values(std::vector<std::string>{"seen.js", "a", "b"}, std::vector<std::string>{"--version"},
                    std::vector<std::string>{"-p", "process.execArgv"},
                    std::vector<std::string>{"-e", "throw new Error('thrown')"},
                    std::vector<std::string>{"-e", "process.kill(process.pid, 'SIGKILL')"},
                    std::vector<std::string>{"--jitless", "-p", "1 + 1"},
                    std::vector<std::string>{"--no-such-option"},
                    std::vector<std::string>{"module.mjs", "10"},
                    std::vector<std::string>{"workers.js", "10"}));

TEST_F(V8, LeavesADumpOfItsOwnAlone) {
  Command command = with_preload(folder_, "node", {"--perf-prof", program("hot.js"), "300"}, "verbose=1");
  command.folder = folder_.path();
  const Ended ended = run(command);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_FALSE(has_dump());
  EXPECT_NE(ended.err.find("writes a jitdump by itself"), std::string::npos) << ended.err;
  EXPECT_EQ(test_support::files_below(folder_.path(), "jit-", ".dump").size(), 1u);
}

TEST_F(V8, IsLeftAloneWhereItIsNotAskedFor) {
  for (const char* options : {"intakes=none", "formats=none"}) {
    const Ended ended = run(with_preload(folder_, "node", {program("hot.js"), "100"}, options));
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_FALSE(has_dump()) << options;
  }
}

}  // namespace
