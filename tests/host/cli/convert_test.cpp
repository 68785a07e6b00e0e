// convert: folded stacks become a page, or one line says why not.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>

#include "tests/host/cli/cli.hpp"

namespace cli_test {
namespace {

using test_support::Ended;
using test_support::read_text;
using test_support::TempFolder;

constexpr char kStacks[] =
    "main;compute;hot 700\n"
    "main;compute;warm 200\n"
    "main;compute 5\n"
    "main;</script><b>&\"x\"\\;[kernel] 60\n"
    "[lost] 3\n"
    "main;compute;hot 32\n";

class CliConvert : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.file(name), std::ios::binary) << text;
  }
  Ended convert(const std::vector<std::string>& more = {"folded", "flame.html"}) {
    std::vector<std::string> words = {"convert"};
    words.insert(words.end(), more.begin(), more.end());
    return run_jitquill(folder_, words);
  }
  // As node sees the page's model; empty: there is no node.
  std::string model(const std::vector<std::string>& searches) {
    std::vector<std::string> words = {"node", FLAME_MODEL, folder_.file("flame.html")};
    words.insert(words.end(), searches.begin(), searches.end());
    const Ended ended = test_support::run({words, {}, {}});
    EXPECT_TRUE(ended.succeeded() || ended.exit_code == 127) << ended.describe();
    return ended.out;
  }

  TempFolder folder_;
};

std::string refusal(const std::string& why) {
  return "jitquill: folded: " + why + "\n";
}

TEST_F(CliConvert, MakesAPageWhoseModelIsTheStacks) {
  write("folded", kStacks);
  ASSERT_EQ(convert().exit_code, 0);
  const std::string seen = model({"HOT", "compute", "o", "nothing"});
  if (seen.empty()) GTEST_SKIP() << "node is not installed";
  EXPECT_EQ(seen,
            "sum 1000 levels 3 frames 7\n"
            "0 0 [lost]: 3 samples (0.30 %), 3 of them its own\n"
            "0 3 main: 997 samples (99.70 %)\n"
            "1 3 </script><b>&\"x\"\\: 60 samples (6.00 %)\n"
            "2 3 [kernel]: 60 samples (6.00 %), 60 of them its own\n"
            "1 63 compute: 937 samples (93.70 %), 5 of them its own\n"
            "2 68 hot: 732 samples (73.20 %), 732 of them its own\n"
            "2 800 warm: 200 samples (20.00 %), 200 of them its own\n"
            "search HOT 1 732 5\n"
            "search compute 1 937 4\n"
            "search o 3 940 4\n"
            "search nothing 0 0 -1\n"
            "ArrowRight main\nArrowUp compute\nArrowUp hot\nArrowRight warm\n"
            "ArrowDown compute\nArrowDown main\nArrowLeft [lost]\nArrowLeft [lost]\n");
}

// The data by a parse of our own; names and title are markup nowhere.
TEST_F(CliConvert, LetsNoNameBeMarkup) {
  write("folded", kStacks);
  ASSERT_EQ(convert({"folded", "flame.html", "--title", "a <b>&\"@DATA@\"", "--unit", "n<s"}).exit_code, 0);
  const std::string page = read_text(folder_.file("flame.html"));
  EXPECT_NE(page.find("<title>a &lt;b&gt;&amp;&quot;@DATA@&quot;</title>"), page.npos);
  const std::size_t at = page.find("{\"unit\":");
  ASSERT_NE(at, page.npos);
  const std::string data = page.substr(at, page.find("</script>", at) - at);
  EXPECT_EQ(data,
            "{\"unit\":\"n\\u003cs\",\n\"names\":[\"main\",\n\"compute\",\n\"hot\",\n\"warm\",\n"
            "\"\\u003c/script>\\u003cb>&\\\"x\\\"\\\\\",\n\"[kernel]\",\n\"[lost]\"],\n\"frames\":["
            "0,6,3,\n0,0,0,\n1,4,0,\n2,5,60,\n1,1,5,\n2,2,732,\n2,3,200]}");
  EXPECT_EQ(page.find("://"), page.npos);
  EXPECT_EQ(page.find("<b>"), page.npos);
}

TEST_F(CliConvert, MakesTheSamePageOfTheSameStacks) {
  write("folded", kStacks);
  ASSERT_EQ(convert().exit_code, 0);
  const Ended again = convert({"folded", "-"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, read_text(folder_.file("flame.html")));
}

TEST_F(CliConvert, SaysInOneLineWhatIsWrong) {
  const std::pair<std::string, std::string> kWrong[] = {
      {"", "no stacks in it; of several processes, `latest` leads to the newest alone"},
      {"\n\n", "no stacks in it; of several processes, `latest` leads to the newest alone"},
      {"main;f 1\nmain\n", "line 2: no stack with a number behind a space; is this a folded file?"},
      {"main;f 1\n\n 7\n", "line 3: no stack with a number behind a space; is this a folded file?"},
      {"main x\n", "line 1: no whole number behind the last space; is this a folded file?"},
      {"main -1\n", "line 1: no whole number behind the last space; is this a folded file?"},
      {"main 1.5\n", "line 1: no whole number behind the last space; is this a folded file?"},
      {"main 1", ""},
      {";; 1\n", "line 1: a stack without frames"},
      {"a 9007199254740992\nb 1\n", "line 2: the numbers add up to more than 2^53"},
      {"a 99999999999999999999999\n", "line 1: the numbers add up to more than 2^53"},
      {std::string("\x7F"
                   "ELF\0\0\n",
                   7),
       "line 1: no stack with a number behind a space; is this a folded file?"},
  };
  for (const auto& [text, why] : kWrong) {
    write("folded", text);
    const Ended ended = convert();
    EXPECT_EQ(ended.exit_code, why.empty() ? 0 : 2) << text;
    EXPECT_EQ(ended.err, why.empty() ? "" : refusal(why));
  }
}

TEST_F(CliConvert, SaysWhichFileCannotBeUsed) {
  EXPECT_EQ(convert().err, refusal("No such file or directory"));
  write("folded", kStacks);
  EXPECT_EQ(convert({"folded", "folded"}).err, refusal("this is the file that is read"));
  EXPECT_EQ(read_text(folder_.file("folded")), kStacks);
  EXPECT_EQ(convert({"folded", "no/flame.html"}).err, "jitquill: no/flame.html: No such file or directory\n");
  EXPECT_EQ(convert({"folded", "/dev/full"}).err, "jitquill: /dev/full: No space left on device\n");
  EXPECT_EQ(convert({"folded"}).exit_code, 2);
}

// A stack of 10,000 frames, and 40,000 stacks.
TEST_F(CliConvert, TakesMuch) {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += i == 0 ? "deep" : ";deep";
  text += " 5\n";
  for (int i = 0; i < 40'000; ++i)
    text += "main;f" + std::to_string(i % 200) + ";g" + std::to_string(i / 200) + " 1\n";
  write("folded", text);
  ASSERT_EQ(convert().exit_code, 0);
  const std::string seen = model({"deep", "g7"});
  if (seen.empty()) GTEST_SKIP() << "node is not installed";
  EXPECT_TRUE(seen.starts_with("sum 40005 levels 10000 frames 50201\nsearch deep 10000 5 0\n")) << seen;
  EXPECT_NE(seen.find("search g7 2200 2200 "), seen.npos) << seen;
}

TEST_F(CliConvert, ReplacesBytesThatAreNoText) {
  write("folded",
        "a\xFF\x01\x7F"
        "b;\xE2\x82\xAC;\xED\xA0\x80 4\r\n");
  ASSERT_EQ(convert().exit_code, 0);
  EXPECT_NE(read_text(folder_.file("flame.html")).find("[\"a???b\",\n\"\xE2\x82\xAC\",\n\"???\"]"),
            std::string::npos);
}

// A browser without a screen: the hot function is the widest, and keys do what the page says.
TEST_F(CliConvert, IsUsedByKeysInABrowser) {
  if (std::getenv("JITQUILL_LONG") == nullptr) GTEST_SKIP() << "JITQUILL_LONG is not set";
  write("folded", kStacks);
  ASSERT_EQ(convert().exit_code, 0);
  std::string page = read_text(folder_.file("flame.html"));
  page.insert(page.rfind("</body>"), "<script>" + read_text(FLAME_KEYS) + "</script>");
  write("used.html", page);
  const auto browse = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"chromium",
                                      "--headless=new",
                                      "--no-sandbox",
                                      "--disable-gpu",
                                      "--user-data-dir=" + folder_.file("profile"),
                                      "--window-size=1000,300",
                                      "--virtual-time-budget=3000"};
    words.insert(words.end(), more.begin(), more.end());
    return test_support::run({words, {}, {}});
  };
  const Ended ended = browse({"--dump-dom", "file://" + folder_.file("used.html")});
  if (ended.exit_code == 127) GTEST_SKIP() << "chromium is not installed";
  const std::size_t at = ended.out.find("<pre id=\"seen\">");
  ASSERT_NE(at, ended.out.npos) << ended.describe();
  EXPECT_EQ(ended.out.substr(at + 15, ended.out.find("</pre>", at) - at - 15),
            "widest: hot\nfocus: search\nfound: 1 frames, 73.20 %, lit 1\n"
            "zoomed: hot: 732 samples (73.20 %), 732 of them its own\nin sight: main,compute,hot\n"
            "down: compute: 937 samples (93.70 %), 5 of them its own\nin sight: 7\nnetwork: 0");
}

}  // namespace
}  // namespace cli_test
