// A real Java VM under the preload, as anybody starts it: what perf understands of it, and what the VM's user
// sees of us.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Range;
using perf_run::Recording;
using perf_run::Sample;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

constexpr const char* kHotLine = "// the hot line";
// Samples that say something of a share; a machine with more to do gives the program half of its CPUs.
constexpr std::size_t kEnough = 250;

class Java : public testing::Test {
 protected:
  void SetUp() override {
    const Ended compiled = test_support::run({.words = {"javac", "-d", folder_.path(), HOT_JAVA, ENDS_JAVA},
                                              .environment = {},
                                              .folder = folder_.path()},
                                             120);
    ASSERT_TRUE(compiled.succeeded()) << "javac: " << compiled.describe();
  }

  // Below the class path that the compiler filled.
  std::vector<std::string> words(std::vector<std::string> options,
                                 const std::vector<std::string>& program) const {
    options.insert(options.end(), {"-cp", folder_.path()});
    options.insert(options.end(), program.begin(), program.end());
    return options;
  }

  // What the VM told in the only process that wrote.
  std::uint64_t counted(const std::string& name) const {
    const auto files = test_support::files_below(folder_.path(), "stats", "");
    EXPECT_EQ(files.size(), 1u);
    std::istringstream lines(files.empty() ? "" : test_support::read_text(files.front()));
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(name + "\t")) return std::stoull(line.substr(name.size() + 1));
    }
    ADD_FAILURE() << "not counted: " << name;
    return 0;
  }

  TempFolder folder_;
};

class JavaPerf : public Java {
 protected:
  void SetUp() override {
    Java::SetUp();
    if (const std::string reason = perf_run::why_not(folder_); !reason.empty()) GTEST_SKIP() << reason;
  }

  void record(std::vector<std::string> options, bool stacks) {
    options.insert(options.begin(), "java");
    recording_ = perf_run::record(folder_, {.host = words(options, {"Hot", "700", "1500"}),
                                            .agent_options = "",
                                            .stacks = stacks,
                                            .srclines = !stacks});
    ASSERT_EQ(recording_.error, "");
    EXPECT_FALSE(only_dump(folder_).functions.empty());
    ASSERT_TRUE(recording_.stamps.count("jitted")) << recording_.host_out << recording_.host_err;
    ASSERT_FALSE(recording_.anonymous.empty());
  }

  std::vector<Sample> in_code_without_a_file(const std::vector<Sample>& samples) const {
    std::vector<Sample> found;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(found), [&](const Sample& sample) {
      return std::any_of(recording_.anonymous.begin(), recording_.anonymous.end(),
                         [&](const Range& range) { return range.has(sample.ip); });
    });
    return found;
  }

  Recording recording_;
};

// In how many of a hundred samples it is so.
template <class IsSo>
double share(const std::vector<Sample>& samples, const char* what, IsSo is_so) {
  const auto so = std::count_if(samples.begin(), samples.end(), is_so);
  const double percent =
      100.0 * static_cast<double>(so) / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
  std::printf("%s: %td of %zu samples, %.2f %%\n", what, so, samples.size(), percent);
  return percent;
}

bool is_named(const Sample& sample) {
  return !sample.frames.empty() && sample.frames.front().object.find("/jitted-") != std::string::npos;
}

bool is_hot(const Sample& sample) {
  return is_named(sample) && sample.frames.front().symbol.starts_with("Hot.");
}

std::string number_of_hot_line() {
  std::istringstream lines(test_support::read_text(HOT_JAVA));
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    if (line.find(kHotLine) != std::string::npos) return std::to_string(number);
  }
  return "none";
}

TEST_F(JavaPerf, NamesAndLinesOfHotMethods) {
  ASSERT_NO_FATAL_FAILURE(record({}, false));
  // What ran before the VM could be attached to has no name; how long that is depends on the machine.
  EXPECT_GE(share(in_code_without_a_file(recording_.samples), "named, from the start", is_named), 90.0);
  const auto measured = in_code_without_a_file(recording_.between(recording_.stamps["jitted"]));
  ASSERT_GE(measured.size(), kEnough);
  EXPECT_GE(share(measured, "named", is_named), 99.0);
  EXPECT_GE(share(measured, "hot methods", is_hot), 98.0);
  const std::string line = "Hot.java:" + number_of_hot_line();
  EXPECT_GE(share(measured, "hot line", [&](const Sample& s) { return s.frames.front().srcline == line; }),
            95.0);
}

TEST_F(JavaPerf, WholeStacksWithFramePointers) {
  ASSERT_NO_FATAL_FAILURE(record(
      {"-XX:+PreserveFramePointer", "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Hot::*"},
      true));
  const auto measured = in_code_without_a_file(recording_.between(recording_.stamps["jitted"]));
  ASSERT_GE(measured.size(), kEnough);
  EXPECT_GE(share(measured, "whole stacks",
                  [](const Sample& sample) {
                    return sample.frames.front().symbol == "Hot.inner(long)" &&
                           sample.reaches("Hot.middle(long)") && sample.reaches("Hot.outer(long)") &&
                           sample.reaches("start_thread");
                  }),
            95.0);
}

struct Case {
  const char* name;
  std::vector<std::string> options;
  std::vector<std::string> program;
};

std::ostream& operator<<(std::ostream& to, const Case& one) {
  return to << one.name;
}

class JavaEnds : public Java, public testing::WithParamInterface<Case> {};

TEST_P(JavaEnds, AsWithoutUs) {
  const auto arguments = words(GetParam().options, GetParam().program);
  Command alone = with_preload(folder_, "java", arguments);
  alone.environment.clear();
  const Ended expected = run(alone);
  const Ended ended = run(with_preload(folder_, "java", arguments));
  EXPECT_EQ(ended.exit_code, expected.exit_code);
  EXPECT_EQ(ended.out, expected.out);
  EXPECT_EQ(ended.err, expected.err);
  EXPECT_NE(ended.out + ended.err, "");
  for (const std::string& file : dump_files(folder_)) {
    // A machine that ends by exit_group() may do so between our making of the file and its first write.
    if (std::filesystem::file_size(file) != 0) (void)judged(file);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Of, JavaEnds,
    testing::Values(Case{"Return", {}, {"Ends", "return"}}, Case{"Exit", {}, {"Ends", "exit"}},
                    Case{"Halt", {}, {"Ends", "halt"}}, Case{"Throw", {}, {"Ends", "throw"}},
                    Case{"Spawn", {}, {"Ends", "spawn"}}, Case{"Threads", {}, {"Ends", "threads"}},
                    Case{"Version", {"-version"}, {}}, Case{"NoSuchClass", {}, {"Nothing"}},
                    Case{"CheckedJni", {"-Xcheck:jni"}, {"Ends", "exit"}},
                    Case{
                        "AnotherAgent",
                        {"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0"},
                        {"Ends", "exit"}}),
    [](const auto& one) { return std::string(one.param.name); });

bool has_function(const jitdump_reader::Dump& dump, const std::string& name) {
  return std::any_of(dump.functions.begin(), dump.functions.end(),
                     [&](const auto& f) { return f.name == name; });
}

TEST_F(Java, TheInterpreterIsToldWhereNothingIsCompiled) {
  const Ended ended = run(with_preload(folder_, "java", words({"-Xint"}, {"Hot", "500", "1"})));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  const auto dump = only_dump(folder_);
  EXPECT_TRUE(has_function(dump, "Interpreter"));
  EXPECT_FALSE(has_function(dump, "Hot.inner(long)"));
  EXPECT_EQ(counted("java_stubs") + counted("java_methods") - counted("duplicates_merged"),
            dump.functions.size());
  EXPECT_EQ(counted("java_refused"), 0u);
}

TEST_F(Java, NothingIsLeftWhereTheIntakeIsNotWanted) {
  const Ended ended = run(with_preload(folder_, "java", words({}, {"Hot", "500", "1"}), "intakes=none"));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_TRUE(dump_files(folder_).empty());
}

TEST_F(Java, AnAgentpathServesTooAndAttachesOnce) {
  for (const bool is_preloaded : {false, true}) {
    const TempFolder folder;
    Command command =
        with_preload(folder, "java", words({"-agentpath:" JITQUILL_JVMTI}, {"Hot", "500", "1"}));
    if (!is_preloaded) command.environment.front().second.clear();
    const Ended ended = run(command);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    const auto dump = only_dump(folder);
    EXPECT_TRUE(has_function(dump, "Interpreter"));
    EXPECT_TRUE(has_function(dump, "Hot.inner(long)"));
    const auto is_interpreter = [](const auto& f) { return f.name == "Interpreter"; };
    EXPECT_EQ(std::count_if(dump.functions.begin(), dump.functions.end(), is_interpreter), 1);
  }
}

}  // namespace
