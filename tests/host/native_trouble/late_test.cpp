// Libraries that are opened late, and closed, and others opened at their place: each call has the name of the
// function that was there then.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

const std::string kHosts = std::string(TROUBLE_HOSTS) + "/";

struct Row {
  std::string way, policy;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.way << " " << row.policy;
}

class LateLibraries : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, LateLibraries,
                         testing::Values(Row{"fentry", "lossless"}, Row{"fentry", "flight"},
                                         Row{"pg", "lossless"}, Row{"return", "lossless"},
                                         Row{"cyg", "lossless"}),
                         [](const auto& row) { return row.param.way + "_" + row.param.policy; });

TEST_P(LateLibraries, HaveTheirNamesByTime) {
  const std::uint64_t opened = times(20, 1'000);
  const TempFolder folder;
  const std::string a = kHosts + "late_A_" + GetParam().way + ".so";
  const std::string b = kHosts + "late_B_" + GetParam().way + ".so";
  test_support::Child child(with_preload(folder, kHosts + "late", {std::to_string(opened), "shared", a, b},
                                         "formats=calls,counts hooks=call_* policy=" + GetParam().policy));
  const auto ended = child.wait(120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  if (ended.out == "0\n") GTEST_SKIP() << "the loader put them elsewhere each time";
  run_files::expect_whole(folder, child.pid());
  EXPECT_EQ(run_files::stats(folder).at("run_ends_unpaired"), 0u);
  const auto counts = run_files::counts(folder);
  EXPECT_EQ(counts.size(), 10u);
  for (const std::string which : {"A", "B"}) {
    EXPECT_EQ(counts.at("call_" + which + "_leaf").calls, 4 * opened);
    for (const char* each : {"begin", "first", "outer", "end"})
      EXPECT_EQ(counts.at("call_" + which + "_" + each).calls, opened) << each;
  }
}

TEST(LateLibraries, ThatBindToLibcsNamesAreLeftAlone) {
  const TempFolder folder;
  const auto ended = run(with_preload(folder, kHosts + "late",
                                      {"2", "deep", kHosts + "late_A_fentry.so", kHosts + "late_B_fentry.so"},
                                      "formats=calls hooks=*"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out"));
}

// They load no library of anybody's.
TEST(StaticPrograms, AreLeftAlone) {
  for (const std::string how : {"static", "static_pie"}) {
    if (!std::filesystem::exists(kHosts + how)) GTEST_SKIP() << "no static libc";
    const TempFolder folder;
    const auto ended = run(with_preload(folder, kHosts + how, {}, "formats=calls hooks=*"));
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out"));
  }
}

// The loader takes no preload from who runs them; and one that was linked with our library has it ask for
// nothing.
TEST(SetuidPrograms, AreLeftAlone) {
  if (getuid() != 0) GTEST_SKIP() << "not root: cannot become another user";
  for (const std::string& program :
       {kHosts + "growing_frames", std::string(NATIVE_HOSTS) + "/calls_gcc_return_O2"}) {
    const TempFolder folder;
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const std::string copy = folder.file("program");
    std::filesystem::copy(program, copy);
    const auto as_nobody = [&](const char* mode) {
      EXPECT_EQ(chmod(copy.c_str(), static_cast<mode_t>(std::stoul(mode, nullptr, 8))), 0);
      return run(with_preload(folder, "setpriv", {"--reuid=65534", "--regid=65534", "--clear-groups", copy},
                              "formats=counts hooks=call_*"));
    };
    auto ended = as_nobody("4755");
    ASSERT_TRUE(ended.succeeded()) << ended.describe();
    EXPECT_EQ(ended.err, "");
    EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out"));
    ended = as_nobody("755");
    if (!std::filesystem::exists(folder.path() + "/out"))
      GTEST_SKIP() << "others cannot load our libraries here: " << ended.describe();
  }
}

}  // namespace
