// C++ names come out as c++filt has them, and patterns take both forms.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;
using Names = std::set<std::string>;

const std::string kHost = std::string(NATIVE_HOSTS) + "/names_gcc_fentry_O1";

Names names_of(const std::string& options) {
  const TempFolder folder;
  const auto ended = run(with_preload(folder, kHost, {}, "formats=counts " + options));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  Names names;
  for (const auto& [name, count] : run_files::counts(folder)) names.insert(name);
  return names;
}

Names filtered(const Names& names) {
  const TempFolder folder;
  std::ofstream list(folder.path() + "/names");
  for (const std::string& name : names) list << name << '\n';
  list.close();
  std::istringstream told(test_support::run({{"sh", "-c", "c++filt <names"}, {}, folder.path()}).out);
  Names all;
  for (std::string line; std::getline(told, line);) all.insert(line);
  return all;
}

class NativeCxxNames : public testing::Test {
 protected:
  void SetUp() override {
    if (access(kHost.c_str(), X_OK) != 0) GTEST_SKIP() << "no gcc";
  }
};

TEST_F(NativeCxxNames, AreAsCxxfiltHasThem) {
  const Names linked = names_of("hooks=*");
  const Names shown = names_of("hooks=* demangle=on");
  ASSERT_GE(linked.size(), 8u);
  EXPECT_TRUE(linked.contains("_ZN4shop5timesIiLi3EEET_S1_"));
  EXPECT_TRUE(shown.contains("int shop::times<int, 3>(int)"));
  EXPECT_EQ(shown, filtered(linked));
}

TEST_F(NativeCxxNames, AreTakenByPatternsInBothForms) {
  EXPECT_EQ(names_of("hooks=shop::Order::*").size(), 0u) << "not asked for";
  const Names order = names_of("demangle=on hooks=shop::Order::*,!*::~Order()");
  EXPECT_EQ(order, (Names{"shop::Order::Order(int)", "shop::Order::operator<(shop::Order const&) const",
                          "shop::Order::total(std::vector<int, std::allocator<int> > const&, "
                          "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > "
                          "const&) const"}));
  EXPECT_EQ(names_of("demangle=on hooks=_ZN4shop5OrderC*"), Names{"shop::Order::Order(int)"});
  EXPECT_EQ(names_of("demangle=on hooks='*shop::times<*,!_ZN4shop5timesId*'"),
            Names{"int shop::times<int, 3>(int)"});
}

}  // namespace
