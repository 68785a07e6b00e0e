// Programs that are compiled with a sanitizer and traced at once: right results, and no return address is
// taken where the sanitizer has its memory in the mirror's place.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/run/run_files.hpp"

namespace {

using test_support::TempFolder;

struct Row {
  std::string compiler, sanitizer, way;

  std::string host() const {
    return std::string(TROUBLE_HOSTS) + "/calls_" + compiler + "_" + sanitizer + "_" + way;
  }
  bool takes_return_addresses() const { return way != "cyg"; }
  bool has_room_for_a_mirror() const { return sanitizer == "address"; }
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.host();
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const char* compiler : {"gcc", "clang"})
    for (const char* sanitizer : {"address", "memory", "thread"})
      for (const char* way : {"fentry", "pg", "cyg"}) {
        const Row row{compiler, sanitizer, way};
        if (std::filesystem::exists(row.host())) all.push_back(row);
      }
  return all;
}

class Sanitized : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Rows, Sanitized, testing::ValuesIn(rows()), [](const auto& row) {
  return row.param.compiler + "_" + row.param.sanitizer + "_" + row.param.way;
});

TEST_P(Sanitized, ProgramsRunAndAreTracedWhereTheyCanBe) {
  const TempFolder folder;
  test_support::Child child(with_preload(folder, GetParam().host(), {}, "formats=counts hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, "");
  run_files::expect_whole(folder, child.pid());
  const auto values = run_files::stats(folder);
  const bool is_left_out = GetParam().takes_return_addresses() && !GetParam().has_room_for_a_mirror();
  EXPECT_EQ(values.at("native_calls_without_mirror") != 0, is_left_out);
  EXPECT_EQ(values.at("run_ends_unpaired"), 0u);
  if (is_left_out) {
    EXPECT_EQ(values.at("run_calls"), 0u);
    return;
  }
  const auto counts = run_files::counts(folder);
  EXPECT_EQ(counts.at("call_leaf").calls, 4u);
  EXPECT_EQ(counts.at("call_thrower").calls, 9u);
  EXPECT_EQ(counts.at("call_jumper").calls, 3u);
  EXPECT_EQ(counts.at("call_tail2").calls, 1u);
}

}  // namespace
