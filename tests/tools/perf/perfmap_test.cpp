// perf itself finds the map in /tmp and shows its names, without an inject or any argument.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>

#include "tests/host/perfmap/map_run.hpp"
#include "tests/tools/perf/perf_run.hpp"

namespace {

using perf_run::Range;
using perf_run::Recording;
using perf_run::Request;
using perf_run::Sample;
using test_support::TempFolder;

class PerfMaps : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = perf_run::why_not(folder_); !reason.empty()) GTEST_SKIP() << reason;
  }

  void record(const std::vector<std::string>& host, const std::string& options) {
    Request request;
    request.host = host;
    request.agent_options = options;
    request.frequency = "1000";
    request.stacks = false;
    request.injects = false;
    recording_ = perf_run::record(folder_, request);
    ASSERT_EQ(recording_.error, "");
    ASSERT_FALSE(recording_.samples.empty());
    in_tmp_.emplace(recording_.samples.front().pid);
    ASSERT_TRUE(recording_.stamps.count("jitted")) << recording_.host_out << recording_.host_err;
    samples_ = recording_.between(recording_.stamps["jitted"]);
  }

  std::vector<Sample> in_anonymous_code() const {
    std::vector<Sample> found;
    std::copy_if(samples_.begin(), samples_.end(), std::back_inserter(found), [&](const Sample& sample) {
      return std::any_of(recording_.anonymous.begin(), recording_.anonymous.end(),
                         [&](const Range& range) { return range.has(sample.ip); });
    });
    return found;
  }

  // How often perf shows each function of the map; each sample in one has its name.
  std::map<std::string, unsigned> shown() const {
    std::map<std::string, unsigned> counts;
    const perfmap_reader::Map map = judged_map(in_tmp_->path());
    for (const Sample& sample : samples_) {
      for (const auto& function : map.functions) {
        if (sample.ip < function.address || sample.ip >= function.address + function.size) continue;
        EXPECT_EQ(sample.frames.at(0).symbol, function.name);
        EXPECT_EQ(sample.frames.at(0).object, in_tmp_->path());
        ++counts[function.name];
      }
    }
    return counts;
  }

  TempFolder folder_;
  std::optional<MapInTmp> in_tmp_;
  Recording recording_;
  std::vector<Sample> samples_;
};

TEST_F(PerfMaps, NameEachSampleInJittedCode) {
  ASSERT_NO_FATAL_FAILURE(record({STACK_HOST, "roomy", "800"}, "formats=perfmap"));
  const auto jitted = in_anonymous_code();
  EXPECT_GT(jitted.size(), 100u);
  for (const Sample& sample : jitted)
    EXPECT_TRUE(sample.has_symbol_starting("jit_")) << std::hex << sample.ip << sample.frames.at(0).symbol;
  EXPECT_GE(shown().size(), 6u);  // jit_work_0 to _5
}

// The control: without a map nobody names that code.
TEST_F(PerfMaps, AreWhereTheNamesComeFrom) {
  ASSERT_NO_FATAL_FAILURE(record({STACK_HOST, "roomy", "800"}, "formats=jitdump"));
  const auto jitted = in_anonymous_code();
  EXPECT_GT(jitted.size(), 100u);
  for (const Sample& sample : jitted) EXPECT_EQ(sample.frames.at(0).symbol, "[unknown]");
  EXPECT_FALSE(in_tmp_->exists());
}

// perf passes over names of one or two bytes: ours are longer by blanks.
#ifdef DEMO_JIT
TEST_F(PerfMaps, NameNibsFunctionsHoweverShort) {
  for (const std::string name : {"fib", "f"}) {
    const std::string program = folder_.file(name + ".nib");
    std::ofstream(program) << std::regex_replace(test_support::read_text(FIB_NIB), std::regex("\\bfib\\b"),
                                                 name);
    ASSERT_NO_FATAL_FAILURE(record({DEMO_JIT, "--time", program}, "formats=perfmap"));
    const std::string padded = name + std::string(3 - name.size(), ' ');
    EXPECT_GT(shown()[padded], samples_.size() / 2) << recording_.host_err;
  }
}

TEST_F(PerfMaps, AreNotThereIfNoFormatIsAskedFor) {
  ASSERT_NO_FATAL_FAILURE(record({DEMO_JIT, "--time", FIB_NIB}, "formats=none"));
  EXPECT_FALSE(in_tmp_->exists());
  std::size_t nameless = 0;
  for (const Sample& sample : samples_) {
    EXPECT_NE(sample.frames.at(0).symbol, "fib");
    nameless += sample.frames.at(0).symbol == "[unknown]" ? 1 : 0;
  }
  EXPECT_GT(nameless, samples_.size() / 2);
}
#endif

}  // namespace
