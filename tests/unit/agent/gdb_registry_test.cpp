#include "agent/drain/gdb_registry.hpp"

#include <gtest/gtest.h>

#include <vector>

// What a debugger reads, declared as gdb's manual has it.
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  std::uint64_t symfile_size;
};
struct jit_descriptor {
  std::uint32_t version;
  std::uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
extern "C" jit_descriptor __jit_debug_descriptor;

namespace jitquill {
namespace {

// The images in the list, its links checked in both directions.
std::vector<const char*> listed() {
  std::vector<const char*> images;
  const jit_code_entry* before = nullptr;
  for (const jit_code_entry* each = __jit_debug_descriptor.first_entry; each != nullptr;
       each = each->next_entry) {
    EXPECT_EQ(each->prev_entry, before);
    images.push_back(each->symfile_addr);
    before = each;
  }
  return images;
}

TEST(GdbRegistry, ListsWhatIsPublishedTheNewestFirst) {
  const std::uint8_t images[3] = {};
  ObjectEntry entries[3];
  for (int i = 0; i < 3; ++i) {
    entries[i].image = &images[i];
    entries[i].image_size = 1;
    gdb_registry().publish(entries[i]);
  }
  const auto* const first = reinterpret_cast<const char*>(images);
  EXPECT_EQ(listed(), (std::vector{first + 2, first + 1, first}));
  EXPECT_EQ(__jit_debug_descriptor.first_entry->symfile_size, 1u);
  gdb_registry().withdraw(entries[1]);
  EXPECT_EQ(listed(), (std::vector{first + 2, first}));
  gdb_registry().withdraw(entries[2]);
  EXPECT_EQ(listed(), (std::vector{first}));
  gdb_registry().publish(entries[1]);
  EXPECT_EQ(listed(), (std::vector{first + 1, first}));
  gdb_registry().withdraw(entries[0]);
  gdb_registry().withdraw(entries[1]);
  EXPECT_TRUE(listed().empty());
}

TEST(GdbRegistry, LeavesNoNewsForWhoAttachesLater) {
  ObjectEntry entry;
  gdb_registry().publish(entry);
  EXPECT_EQ(__jit_debug_descriptor.version, 1u);
  EXPECT_EQ(__jit_debug_descriptor.action_flag, 0u);
  EXPECT_EQ(__jit_debug_descriptor.relevant_entry, nullptr);
  gdb_registry().withdraw(entry);
  EXPECT_EQ(__jit_debug_descriptor.action_flag, 0u);
}

}  // namespace
}  // namespace jitquill
