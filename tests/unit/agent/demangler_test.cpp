// Names as the source has them: as c++filt says, without malloc(), on a small stack, whatever the name.
#include "agent/base/demangler.hpp"

#include <cxxabi.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/support/child.hpp"

namespace jitquill {
namespace {

TEST(Demangler, SaysWhatTheSourceSays) {
  Demangler demangler;
  EXPECT_EQ(demangler.text_of("_ZN3foo3barEi"), "foo::bar(int)");
  EXPECT_EQ(demangler.text_of("_ZNSt6vectorIiSaIiEE9push_backERKi"),
            "std::vector<int, std::allocator<int> >::push_back(int const&)");
  EXPECT_EQ(demangler.text_of("_ZN12_GLOBAL__N_13runEv.part.0"),
            "(anonymous namespace)::run() [clone .part.0]");
}

TEST(Demangler, LeavesWhatIsNoName) {
  Demangler demangler;
  const std::string longer = "_Z1025" + std::string(1025, 'a') + "v";
  for (const std::string& name : {std::string("main"), std::string(), std::string("_Z"),
                                  std::string("_ZN3fo"), std::string("_Rust"), longer}) {
    const std::string_view text = demangler.text_of(name);
    EXPECT_EQ(text, name);
    EXPECT_EQ(text.data(), name.data());
  }
}

TEST(Demangler, TakesAViewThatEndsInTheMiddle) {
  Demangler demangler;
  EXPECT_EQ(demangler.text_of(std::string_view("_Z1fivvvv", 5)), "f(int)");
}

// Every name in this program, which has thousands.
TEST(Demangler, SaysWhatOthersSay) {
  const auto listed = test_support::run(
      {{"sh", "-c", "nm /proc/$PPID/exe | awk '$3 ~ /^_Z/ && $2 ~ /[tTwW]/ {print $3}' | sort -u"}, {}, ""});
  if (!listed.succeeded()) GTEST_SKIP() << "no nm";
  Demangler demangler;
  std::size_t count = 0;
  for (std::size_t at = 0; at < listed.out.size(); ++count) {
    const std::size_t end = listed.out.find('\n', at);
    const std::string name = listed.out.substr(at, end - at);
    int status = -1;
    char* const theirs = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
    const std::string expected = status == 0 ? theirs : name;
    std::free(theirs);
    if (expected.size() < Demangler::kMostText) {
      EXPECT_EQ(demangler.text_of(name), expected);
    }
    at = end + 1;
  }
  EXPECT_GT(count, 1'000u);
}

// 2^30 times a name of 4 bytes, from 200.
TEST(Demangler, CutsWhatGrowsWithoutBound) {
  std::string name = "_Z1fPFvvE";
  for (unsigned i = 0; i < 30; ++i) {
    // A function type of the type before, twice.
    const std::string last =
        i == 0 ? "S0_"
               : "S" + std::string(1, i < 10 ? static_cast<char>('0' + i) : static_cast<char>('A' + i - 10)) +
                     "_";
    name += "PFv" + last + last + "E";
  }
  Demangler demangler;
  const std::string text(demangler.text_of(name));
  EXPECT_EQ(text.size(), Demangler::kMostText);
  EXPECT_TRUE(text.starts_with("f(void (*)(), ")) << text.substr(0, 100);
  EXPECT_EQ(demangler.text_of("_Z1fi"), "f(int)") << "usable again";
}

// As whoever ends a process may have.
TEST(Demangler, NeedsLittleOfItsCallersStack) {
  std::string deep = "_Z1fP";
  deep += std::string(1'000, 'P') + "i";
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(PTHREAD_STACK_MIN));
  pthread_t thread;
  const auto run = [](void* name) -> void* {
    Demangler demangler;
    return demangler.text_of(*static_cast<std::string*>(name)).size() > 1'000 ? name : nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &deep), 0);
  void* told = nullptr;
  pthread_join(thread, &told);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(told, &deep);
}

TEST(Demangler, OutlivesWhatIsNoName) {
  Demangler demangler;
  std::mt19937 random(1);  // a fixed sequence
  const std::string letters = "ZNSTIEPRKFvibc0123456789_LXJDtpCQ";
  for (unsigned i = 0; i < 20'000; ++i) {
    std::string name = "_Z";
    for (auto length = random() % 200; length != 0; --length) name += letters[random() % letters.size()];
    EXPECT_LE(demangler.text_of(name).size(), Demangler::kMostText);
  }
}

}  // namespace
}  // namespace jitquill
