// What native functions call comes out as exact trees, and nothing of theirs changes, however they were
// compiled.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using calls_reader::Call;
using calls_reader::Thread;
using test_support::TempFolder;

struct Way {
  std::string compiler, how, level;

  std::string host(const std::string& source) const {
    return std::string(NATIVE_HOSTS) + "/" + source + "_" + compiler + "_" + how + "_" + level;
  }
  bool takes_return_addresses() const { return how == "pg" || how == "fentry" || how == "fixed"; }
  bool tells_of_exceptions() const { return how == "cyg" && compiler == "gcc"; }
  bool jumps_to_tail() const { return how != "cyg" && level == "O2"; }
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.host("");
}

std::vector<Way> ways() {
  std::vector<Way> all;
  for (const char* compiler : {"gcc", "clang"})
    for (const char* how : {"pg", "fentry", "return", "cyg", "fixed"})
      for (const char* level : {"O0", "O2"}) {
        const Way way{compiler, how, level};
        if (std::filesystem::exists(way.host("calls"))) all.push_back(way);
      }
  return all;
}

class Native : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, Native, testing::ValuesIn(ways()), [](const auto& way) {
  return way.param.compiler + "_" + way.param.how + "_" + way.param.level;
});

std::string line(unsigned depth, const std::string& name, const std::string& how = "") {
  return std::string(2 * depth, ' ') + name + (how.empty() ? "" : " " + how) + "\n";
}

std::string tree_of_main(const Way& way) {
  std::string tree = line(0, "main");
  tree += line(1, "call_double") + line(2, "call_leaf");
  tree += line(1, "call_middle") + line(2, "call_leaf") + line(2, "call_leaf");
  for (int i = 0; i < 3; ++i) {
    tree += line(1, "call_catcher");
    for (unsigned depth = 2; depth < 5; ++depth)
      tree += line(depth, "call_thrower", way.tells_of_exceptions() ? "" : "unwound");
  }
  tree += line(1, "call_setter");
  for (unsigned depth = 2; depth < 5; ++depth) tree += line(depth, "call_jumper", "unwound");
  tree += line(1, "call_tail1", way.jumps_to_tail() && way.takes_return_addresses() ? "tail call" : "");
  tree += line(way.jumps_to_tail() ? 1 : 2, "call_tail2");
  return tree + line(1, "call_walked") + line(2, "call_walker");
}

std::string tree_of_thread(const Way& way) {
  return line(0, "call_thread", way.tells_of_exceptions() ? "" : "thread end") + line(1, "call_double") +
         line(2, "call_leaf");
}

std::string tree_of(const Thread& thread) {
  std::string tree;
  for (const Call& call : thread.calls) tree += line(static_cast<unsigned>(call.depth), call.name, call.how);
  return tree;
}

constexpr char kTraced[] = "formats=calls,counts hooks=main,call_*";

TEST_P(Native, CallsComeOutAsTheyWere) {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, GetParam().host("calls"), {}, kTraced));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
  const auto values = run_files::stats(folder);
  EXPECT_EQ(values.at("native_calls_without_mirror"), 0u);
  EXPECT_EQ(values.at("native_calls_without_slot"), 0u);
  const auto file = run_files::calls(folder);
  ASSERT_EQ(file.threads.size(), 2u);
  std::string trees;
  for (const auto& [name, thread] : file.threads) {
    const bool is_first = name.ends_with("-" + std::to_string(child.pid()));
    EXPECT_EQ(tree_of(thread), is_first ? tree_of_main(GetParam()) : tree_of_thread(GetParam()));
  }
  EXPECT_EQ(run_files::counts(folder).at("call_leaf").calls, 4u);
}

TEST_P(Native, ValuesArriveWhileItIsTraced) {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, GetParam().host("values"), {}, "formats=counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_whole(folder, child.pid());
  EXPECT_EQ(run_files::counts(folder).at("x87").calls, 9u);
}

TEST_P(Native, ValuesArriveWhileItIsNot) {
  const TempFolder folder;
  const auto ended = run(with_preload(folder, GetParam().host("values"), {}, "formats=calls"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/out")) << "nothing was asked for";
}

bool is_there(const char* program) {
  return test_support::run({{"sh", "-c", std::string("command -v ") + program}, {}, ""}).succeeded();
}

void expect_callers_in_gdb(const Way& way) {
  const TempFolder folder;
  const auto host = with_preload(folder, way.host("calls"), {}, kTraced);
  test_support::Command gdb{
      {"gdb", "-nx", "-batch", "-ex", "set startup-with-shell off", "-ex", "set breakpoint pending on"},
      {},
      host.folder};
  for (const auto& [name, value] : host.environment) {
    gdb.words.push_back("-ex");
    gdb.words.push_back("set environment " + name + " " + value);
  }
  for (const char* command : {"break call_leaf", "run", "backtrace", "delete", "continue"}) {
    gdb.words.push_back("-ex");
    gdb.words.push_back(command);
  }
  gdb.words.push_back(host.words.front());
  const auto ended = run(gdb);
  const std::size_t leaf = ended.out.rfind(" call_leaf (");
  const std::size_t caller = ended.out.find(" call_double (", leaf);
  const std::size_t main = ended.out.find(" main (", caller);
  EXPECT_NE(leaf, std::string::npos) << ended.out << ended.err;
  EXPECT_NE(caller, std::string::npos) << ended.out << ended.err;
  EXPECT_NE(main, std::string::npos) << ended.out << ended.err;
}

// gdb takes a second to begin. What it sees of hooks does not depend on who compiled the calls of them.
class NativeDebugged : public testing::TestWithParam<Way> {
 public:
  static std::vector<Way> ways_of_hooks() {
    auto all = ways();
    std::erase_if(all, [](const Way& way) { return way.compiler != "gcc" || way.level != "O2"; });
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Ways, NativeDebugged, testing::ValuesIn(NativeDebugged::ways_of_hooks()),
                         [](const auto& way) { return way.param.how; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NativeDebugged);

TEST_P(NativeDebugged, DebuggersSeeTheCallers) {
  if (!is_there("gdb")) GTEST_SKIP() << "no gdb";
  expect_callers_in_gdb(GetParam());
}

TEST(NativeMatrix, DebuggersSeeTheCallersInEachWay) {
  if (times(0, 1) == 0) GTEST_SKIP() << "JITQUILL_LONG=1 runs it";
  if (!is_there("gdb")) GTEST_SKIP() << "no gdb";
  for (const Way& way : ways()) {
    SCOPED_TRACE(testing::PrintToString(way));
    expect_callers_in_gdb(way);
  }
}

TEST(NativeNames, GprofCountsAsWithoutUs) {
  const std::string host = std::string(NATIVE_HOSTS) + "/gprof";
  if (!is_there("gprof") || access(host.c_str(), X_OK) != 0) GTEST_SKIP() << "no gcc, or no gprof";
  const TempFolder folder;
  for (const char* options : {"formats=jitdump", "formats=calls hooks=none"}) {
    const auto ran = run(with_preload(folder, host, {}, options));
    ASSERT_EQ(ran.out, "2282283\n") << ran.describe();
    const auto report = test_support::run({{"gprof", "-b", "-p", host, "gmon.out"}, {}, folder.path()});
    EXPECT_NE(report.out.find(" 1234 "), std::string::npos) << report.describe();
  }
}

TEST(NativeWays, AreAllOfTheCompilersThatAreThere) {
  const std::string compilers = NATIVE_COMPILERS;
  const std::size_t of_gcc = compilers.find("gcc") != compilers.npos ? 9 : 0;
  const std::size_t of_clang = compilers.find("clang") != compilers.npos ? 6 : 0;
  EXPECT_EQ(ways().size(), of_gcc + of_clang);
}

}  // namespace
