// Hosts that are built in ways of their own compute what they computed, and are told of as any other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;
using test_support::Command;
using test_support::Ended;
using test_support::TempFolder;

std::string& variable(Command& command, const std::string& name) {
  for (auto& [key, value] : command.environment) {
    if (key == name) return value;
  }
  return command.environment.emplace_back(name, "").second;
}

Ended run_alone(const TempFolder& folder, const std::string& host,
                const std::vector<std::string>& arguments) {
  Command command = with_agent(folder, host, arguments);
  variable(command, "LD_PRELOAD").clear();
  return run(command);
}

struct Throwing {
  const char* name;
  const char* host;
  const char* printed;  // with the agent
};

class HostThatThrows : public testing::TestWithParam<Throwing> {};

TEST_P(HostThatThrows, CatchesAroundJittingAndThroughIt) {
  TempFolder alone;
  EXPECT_EQ(run_alone(alone, GetParam().host, {"200"}).out, "around 400 through 0\n");
  TempFolder folder;
  const Ended ended = run(with_agent(folder, GetParam().host, {"200"}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, GetParam().printed);
  EXPECT_EQ(only_dump(folder).functions.size(), 200u);
}

// With libgcc inside the program there is no unwinder that could be told: the status says so.
INSTANTIATE_TEST_SUITE_P(
    With, HostThatThrows,
    testing::Values(Throwing{"shared", THROWING_SHARED_HOST, "around 400 through 200\n"},
                    Throwing{"static_libstdcxx", THROWING_STATIC_LIBSTDCXX_HOST, "around 400 through 200\n"},
                    Throwing{"static_libgcc", THROWING_STATIC_LIBGCC_HOST, "around 400 through 0\n"}),
    [](const auto& throwing) { return std::string(throwing.param.name); });

TEST(HostThatIsStatic, IsLeftAsItIs) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, STATIC_HOST, {"3"}));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out, "-1\n-1\n-1\n");  // JITQUILL_NO_AGENT
  EXPECT_EQ(ended.err, "");
  EXPECT_TRUE(dump_files(folder).empty());
}

TEST(HostsAllocator, IsNeverCalled) {
  TempFolder folder;
  const Ended ended =
      run(with_agent(folder, NO_ALLOCATOR_HOST, {}, "formats=jitdump,gdb verbose=1 nosuch=1"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out,
            "wants 1\nfirst 0\nmovable 0\nmoved 0\nmany 0\nunloaded 0\nstop 0\nstart 5\nagain 0\n");
  EXPECT_EQ(dump_files(folder).size(), 2u);
  for (const std::string& file : dump_files(folder)) (void)judged(file);
  EXPECT_EQ(test_support::files_below(folder.path(), "stats", "").size(), 2u);  // also of the exit
}

TEST(HostThatUsesUpStaticTls, HasAsMuchAsWithoutUs) {
  constexpr int kOurs = 1;  // module of 64 bytes, at most
  TempFolder alone;
  TempFolder folder;
  const int without = std::atoi(run_alone(alone, TLS_HOST, {TLS_MODULE}).out.c_str());
  const Ended ended = run(with_agent(folder, TLS_HOST, {TLS_MODULE}));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_GT(without, 5);
  EXPECT_GE(std::atoi(ended.out.c_str()), without - kOurs);
  EXPECT_EQ(only_dump(folder).functions.size(), 1u);
}

TEST(HostThatChangesItsUser, DoesNotHang) {
  TempFolder folder;
  const Ended ended = run(with_agent(folder, SETXID_HOST, {std::to_string(times(300, 5'000))}), 120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::istringstream counts(ended.out);
  std::uint32_t announced = 0;
  for (std::uint32_t count = 0; counts >> count; announced += count) EXPECT_GT(count, 0u);
  const Dump dump = only_dump(folder);
  EXPECT_EQ(dump.functions.size(), announced);
  for (const Function& function : dump.functions) ASSERT_EQ(differences(function, number_of(function)), "");
}

#if defined(ASAN_HOST)

struct Sanitized {
  const char* name;
  const char* host;
  const char* first;    // preloaded before the agent
  const char* options;  // of the sanitizer
};

class HostWithSanitizer : public testing::TestWithParam<Sanitized> {};

TEST_P(HostWithSanitizer, HasNothingToReport) {
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 500;
  TempFolder folder;
  Command command = with_agent(folder, GetParam().host, {std::to_string(kThreads), std::to_string(kEach)});
  std::string& preload = variable(command, "LD_PRELOAD");
  preload = std::string(GetParam().first) + preload;
  variable(command, "ASAN_OPTIONS") = GetParam().options;
  const Ended ended = run(command, 120);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.err, "");
  const Dump dump = only_dump(folder);
  std::set<std::uint32_t> numbers;
  for (const Function& function : dump.functions) {
    numbers.insert(number_of(function));
    ASSERT_EQ(differences(function, number_of(function)), "");
  }
  EXPECT_EQ(numbers.size(), kThreads * kEach);
}

INSTANTIATE_TEST_SUITE_P(Of, HostWithSanitizer,
                         testing::Values(Sanitized{"address_first", ASAN_HOST, ASAN_LIBRARY ":", ""},
                                         Sanitized{"address_behind_us", ASAN_HOST, "",
                                                   "verify_asan_link_order=0"},
                                         Sanitized{"thread", TSAN_HOST, "", ""}),
                         [](const auto& sanitized) { return std::string(sanitized.param.name); });

// gcc's runtime refuses to start behind any preloaded library: README, "Limits".
TEST(HostWithAddressSanitizer, WantsItsRuntimeFirst) {
  TempFolder folder;
  Command command = with_agent(folder, ASAN_HOST, {"1", "1"});
  variable(command, "ASAN_OPTIONS").clear();
  EXPECT_NE(run(command).err.find("ASan runtime does not come first"), std::string::npos);
}

#endif

}  // namespace
