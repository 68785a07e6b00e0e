// HotSpot's tables about itself, whole and broken.
#include "agent/intake/jvmti/vm_flags.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace jitquill::intake::jvmti {
namespace {

struct Flag {
  bool* value;
  const char* name;
  int other;
};

class VmFlags : public testing::Test {
 protected:
  std::optional<bool> flag(const char* name) const { return vm_flag({fields_.data(), types_.data()}, name); }

  bool first_ = false;
  bool second_ = true;
  std::vector<Flag> flags_ = {{&first_, "First", 0}, {&second_, "PreserveFramePointer", 0}};
  const Flag* list_ = flags_.data();
  std::uint64_t count_ = flags_.size();
  std::vector<VmField> fields_ = {{"Klass", "_name", "char*", 0, 4, nullptr},
                                  {"JVMFlag", "_name", "const char*", 0, offsetof(Flag, name), nullptr},
                                  {"JVMFlag", "_addr", "void*", 0, offsetof(Flag, value), nullptr},
                                  {"JVMFlag", "flags", "JVMFlag*", 1, 0, &list_},
                                  {"JVMFlag", "numFlags", "size_t", 1, 0, &count_},
                                  {}};
  std::vector<VmType> types_ = {{"Klass", nullptr, {}, 8}, {"JVMFlag", nullptr, {}, sizeof(Flag)}, {}};
};

TEST_F(VmFlags, ASwitchIsFoundByItsName) {
  EXPECT_EQ(flag("PreserveFramePointer"), true);
  EXPECT_EQ(flag("First"), false);
  EXPECT_EQ(flag("Last"), std::nullopt);
}

TEST_F(VmFlags, AmongThousands) {
  flags_.insert(flags_.begin(), 1500, Flag{&first_, "Filler", 0});
  list_ = flags_.data();
  count_ = flags_.size();
  fields_.insert(fields_.begin(), 3000, VmField{"Other", "_name", "int", 0, 0, nullptr});
  EXPECT_EQ(flag("PreserveFramePointer"), true);
}

TEST_F(VmFlags, NoTablesOrNotAllOfThem) {
  EXPECT_EQ(vm_flag({}, "First"), std::nullopt);
  EXPECT_EQ(vm_flag({reinterpret_cast<const VmField*>(8), reinterpret_cast<const VmType*>(8)}, "First"),
            std::nullopt);
  fields_.erase(fields_.begin() + 2);
  EXPECT_EQ(flag("First"), std::nullopt);
}

TEST_F(VmFlags, SizesAndCountsThatCannotBe) {
  count_ = ~std::uint64_t{0};
  EXPECT_EQ(flag("First"), std::nullopt);
  count_ = flags_.size();
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4}, ~std::uint64_t{0}}) {
    types_[1].size = size;
    EXPECT_EQ(flag("First"), std::nullopt) << size;
  }
  types_[1].size = sizeof(Flag);
  fields_[1].offset = ~std::uint64_t{0};
  EXPECT_EQ(flag("First"), std::nullopt);
}

TEST_F(VmFlags, PointersThatLeadNowhere) {
  list_ = reinterpret_cast<const Flag*>(8);
  EXPECT_EQ(flag("First"), std::nullopt);
  list_ = flags_.data();
  flags_[0].name = reinterpret_cast<const char*>(8);
  EXPECT_EQ(flag("PreserveFramePointer"), true);
  flags_[1].value = reinterpret_cast<bool*>(8);
  EXPECT_EQ(flag("PreserveFramePointer"), std::nullopt);
}

TEST_F(VmFlags, TablesWithoutAnEnd) {
  fields_.assign(1 << 15, VmField{"JVMFlag", "_other", "int", 0, 0, nullptr});
  EXPECT_EQ(flag("First"), std::nullopt);
}

}  // namespace
}  // namespace jitquill::intake::jvmti
