// A runtime's own trace points, and what a subscriber gets, as trace_host.c uses them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/host/openj9/trace_files.hpp"

namespace {

using test_support::TempFolder;
using Lines = std::vector<std::string>;

// What the host said.
std::string run(const TempFolder& folder, const std::string& options) {
  test_support::Child child(with_agent(folder, TRACE_HOST, {folder.file("followed")}, options));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_no_lanes(child.pid());
  return ended.out;
}

const std::string kRefused =
    "jq, jqm and dg are components of jitquill and of the format\n"
    "a component's name is 1 to 32 letters, digits and _\n"
    "a trace point's name is 1 to 64 letters, digits and _\n"
    "zeros go in front of the formatter's 0x: write 0x%08x\n"
    "a text has a character that is no printable ASCII\n"
    "a trace point's level is 0 to 9\n"
    "another component of this name has other trace points\n";

std::vector<std::string> of_component(const trace_files::Trace& trace, const std::string& name) {
  std::vector<std::string> found;
  for (const std::string& line : trace.lines) {
    if (line.find(" " + name + ".") != line.npos) found.push_back(line.substr(line.find(name)));
  }
  return found;
}

TEST(OpenJ9Trace, HasTheRuntimesOwnComponent) {
  const TempFolder folder;
  EXPECT_EQ(run(folder, "formats=openj9,calls"), kRefused + "done: 0\n");
  const std::string calls = test_support::read_text(run_files::only(folder, "calls"));
  EXPECT_NE(calls.find("trace point myvm.3 */"), calls.npos);
  const auto trace = trace_files::whole(folder, "myvm");
  const auto lines = of_component(trace, "myvm");
  EXPECT_EQ(lines.size(), 3u + 2 * 2000 + 1);
  const auto has = [&](const std::string& words) {
    return std::ranges::count_if(trace.lines,
                                 [&](const std::string& line) { return line.find(words) != line.npos; });
  };
  EXPECT_EQ(has("-5 6 0x0000beef -7 0.5 k 'abc' '\xC3\xA9\\n' 100%"), 1);
  EXPECT_EQ(has("k '[Null Pointer]' 'xxxxx"), 1);
  EXPECT_EQ(has("k '' '' 100%"), 1);
  EXPECT_EQ(has(">compile(m1_999, level=999)"), 1);
  EXPECT_EQ(has("<compile, 64 bytes at 0x7f0000001000"), 2000);
  // Refusals are in the log, with which point it was.
  const auto logs = test_support::files_below(folder.path(), "log", "");
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_NE(test_support::read_text(logs[0]).find("'other' is refused, trace point 1: zeros go"),
            std::string::npos);
}

TEST(OpenJ9Trace, IsWhatASubscriberGets) {
  for (const char* const type : {"external", "internal"}) {
    const TempFolder folder;
    EXPECT_EQ(run(folder, std::string("formats=openj9 openj9.type=") + type).find("wrong"),
              std::string::npos);
    const std::string file = test_support::read_text(trace_files::only(folder));
    EXPECT_TRUE(test_support::read_text(folder.file("followed")) == file) << type;
  }
}

TEST(OpenJ9Trace, HasNoPointAboveTheSelectedLevel) {
  const TempFolder folder;
  EXPECT_EQ(run(folder, "formats=openj9 openj9.select=jq:0,my*:4"), kRefused + "done: -2\n");
  const auto trace = trace_files::whole(folder, "myvm");
  EXPECT_EQ(of_component(trace, "myvm").size(), 3u + 2 * 2000);
}

}  // namespace
