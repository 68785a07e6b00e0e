// The view of a payload that somebody cut or made up, and the lines that texts have of it.
#include "writer/model/runtime_event.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "writer/text/event_text.hpp"

namespace jitquill {
namespace {

std::string line_of(std::uint32_t event, const std::vector<std::uint8_t>& payload) {
  Bytes out;
  put_post({event, payload}, out);
  return {out.view().begin(), out.view().end()};
}

std::uint32_t number_of(RuntimeEventKind kind) {
  return static_cast<std::uint32_t>(kind);
}

TEST(RuntimeEvent, OfOwnNumbersHasNoRow) {
  for (const std::uint32_t number :
       {0u, 10u, 147u, 255u, 256u, 1023u, kFirstOwnEvent, 0xFEFFu, 0xFFFFFFFFu}) {
    const RuntimeEvent event({number, {}});
    EXPECT_EQ(event.row(), nullptr) << number;
    EXPECT_EQ(event.number(0), 0u);
    EXPECT_EQ(event.text(), "");
  }
}

TEST(RuntimeEvent, RowsAreFoundByTheirNumbers) {
  std::set<std::string_view> names;
  for (const RuntimeEventRow& row : runtime_event_rows()) {
    EXPECT_EQ(RuntimeEvent({number_of(row.kind), {}}).row(), &row) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

// In memory of its own size, so that a sanitizer sees a byte too much.
TEST(RuntimeEvent, ReadsNothingBehindAPayloadThatIsTooShort) {
  std::mt19937 random(1);
  for (const RuntimeEventRow& row : runtime_event_rows()) {
    for (std::size_t size = 0; size < row.fixed_size + 3u; ++size) {
      const auto bytes = std::make_unique<std::uint8_t[]>(size);
      for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(random() | 1);
      const Post post{number_of(row.kind), {bytes.get(), size}};
      const RuntimeEvent event(post);
      for (std::size_t i = 0; i < row.fields.size(); ++i) {
        if (row.fields[i].type >= FieldType::kText) continue;
        const std::size_t end = i + 1 < row.fields.size() ? row.fields[i + 1].at : row.fixed_size;
        EXPECT_EQ(event.number(i) != 0, end <= size) << row.name << " " << i << " " << size;
      }
      const bool has_text = !row.fields.empty() && row.fields.back().type >= FieldType::kText;
      EXPECT_EQ(event.text().size(), has_text && size > row.fixed_size ? size - row.fixed_size : 0);
      Bytes out;
      put_post(post, out);
      EXPECT_GT(out.size(), 0u);
    }
  }
}

TEST(EventText, SaysFieldsByNameWordsAsWordsAndUnits) {
  EXPECT_EQ(line_of(4, {7, 0, 0, 0, 0, 0, 0, 0, event_word::kStopReason::kSleep, 3, 0, 0, 0, 0, 0, 0, 0}),
            "thread stops: thread 7, sleeps, info 3");
  EXPECT_EQ(line_of(62, {0, 1, 0, 0, 0, 0, 0, 0}), "heap size: size 256 bytes");
  EXPECT_EQ(line_of(43, {3}), "collector: sweeps");
  EXPECT_EQ(line_of(43, {99}), "collector: 99");
  EXPECT_EQ(line_of(45, {}), "collection ends");
  EXPECT_EQ(line_of(121, {1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}),
            "counter: counter 1, value -2");
  EXPECT_EQ(line_of(121, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80}),
            "counter: counter 1, value -9223372036854775808");
}

TEST(EventText, IsOneLineWhateverTheTextIs) {
  EXPECT_EQ(line_of(101, {'a', '\n', 'b', 0x7F, 0xC3, 0xA4}), "marker: a?b?\xC3\xA4");
  EXPECT_EQ(line_of(8, {1, 0, 0, 0, 0, 0, 0, 0, 'm'}), "thread named: thread 1, m");
  EXPECT_EQ(line_of(104, {1, 2, 3}), "binary message: 3 bytes");
  EXPECT_EQ(line_of(2000, {1, 2, 3}), "event 2000, 3 bytes");
}

}  // namespace
}  // namespace jitquill
