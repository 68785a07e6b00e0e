#include "agent/lanes/reentry_queue.hpp"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace jitquill {
namespace {

TEST(ReentryQueue, KeepsCopiesOldestFirst) {
  ReentryQueue queue;
  {
    std::vector<std::uint8_t> bytes{0x90, 0xC3};
    std::string name = "first", file = "a.nib", other = "b.nib";
    std::vector<Line> lines{{.offset = 0, .line = 3, .column = 1, .file = nullptr},
                            {.offset = 1, .line = 4, .column = 0, .file = other.c_str()}};
    std::vector<FrameEvent> frame{{.offset = 1, .kind = FrameEventKind::kPush, .reg = 3, .value = 0}};
    CodeLoad load;
    load.id = 5;
    load.bytes = bytes;
    load.name = name;
    load.file = file.c_str();
    load.lines = lines;
    load.unwinding.events = frame;
    ASSERT_TRUE(queue.push(load));
    ASSERT_TRUE(queue.push(CodeUnload{.address = 0x40}));
    bytes.assign(2, 0);  // what the caller does to its memory afterwards is its own business
    name = file = other = "gone!";
    lines.assign(2, Line{});
    frame.assign(1, FrameEvent{});
  }
  ReentryQueue::Entry* first = queue.take();
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->kind, ReentryQueue::Entry::Kind::kLoad);
  EXPECT_EQ(first->load.id, 5u);
  EXPECT_EQ(first->load.bytes[1], 0xC3);
  EXPECT_EQ(first->load.name, "first");
  EXPECT_STREQ(first->load.file, "a.nib");
  EXPECT_EQ(first->load.lines[0].file, nullptr);
  EXPECT_STREQ(first->load.lines[1].file, "b.nib");
  EXPECT_EQ(first->load.unwinding.events[0].reg, 3);
  ReentryQueue::Entry* second = first->next;
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->kind, ReentryQueue::Entry::Kind::kUnload);
  EXPECT_EQ(second->unload.address, 0x40u);
  EXPECT_EQ(second->next, nullptr);
  EXPECT_EQ(queue.take(), nullptr);
  ReentryQueue::give_back(first);
  ReentryQueue::give_back(second);
}

TEST(ReentryQueue, ForgetsWhatIsTheParents) {
  ReentryQueue queue;
  ASSERT_TRUE(queue.push(CodeUnload{.address = 1}));
  queue.forget();
  EXPECT_EQ(queue.take(), nullptr);
}

}  // namespace
}  // namespace jitquill
