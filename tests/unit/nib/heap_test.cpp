#include "nib/heap.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace nib {
namespace {

constexpr Kind kInt = Kind::kWords;
constexpr Kind kBool = Kind::kBytes;

TEST(Heap, TheLimitCountsElementsAndHeads) {
  Heap heap(1000);
  Array* const first = heap.allocate_array(kInt, 100);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->length, 100);
  std::memset(first->elements(), 1, 100 * element_size(kInt));
  const auto left = static_cast<std::int64_t>(1000 - 100 * element_size(kInt) - 2 * sizeof(Array));
  EXPECT_EQ(heap.allocate_array(kBool, left + 1), nullptr);
  EXPECT_NE(heap.allocate_array(kBool, left), nullptr);
  EXPECT_EQ(heap.allocate_array(kBool, 0), nullptr);
}

TEST(Heap, TheLongestArrayFillsAnEmptyHeap) {
  for (const Kind kind : {kInt, kBool}) {
    Heap heap(4096);
    const std::int64_t longest = heap.max_length(kind);
    EXPECT_EQ(longest, static_cast<std::int64_t>((4096 - sizeof(Array)) / element_size(kind)));
    EXPECT_NE(heap.allocate_array(kind, longest), nullptr);
  }
  Heap none(sizeof(Array) - 1);
  EXPECT_EQ(none.max_length(kBool), 0);
  EXPECT_EQ(none.allocate_array(kBool, 0), nullptr);
}

TEST(Heap, EmptyArraysAreArrays) {
  Heap heap(1000);
  Array* const a = heap.allocate_array(kInt, 0);
  Array* const b = heap.allocate_array(kInt, 0);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(a->length, 0);
}

}  // namespace
}  // namespace nib
