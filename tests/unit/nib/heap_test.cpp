#include "nib/heap.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace nib {
namespace {

constexpr std::size_t kInt = 8;
constexpr std::size_t kBool = 1;

TEST(Heap, TheLimitCountsElementsAndHeads) {
  Heap heap(1000);
  Array* const first = heap.allocate(100, kInt);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->length, 100);
  std::memset(first->elements(), 1, 100 * kInt);
  const auto left = static_cast<std::int64_t>(1000 - 100 * kInt - 2 * sizeof(Array));
  EXPECT_EQ(heap.allocate(left + 1, kBool), nullptr);
  EXPECT_NE(heap.allocate(left, kBool), nullptr);
  EXPECT_EQ(heap.allocate(0, kBool), nullptr);
}

TEST(Heap, TheLongestArrayFillsAnEmptyHeap) {
  for (const std::size_t size : {kInt, kBool}) {
    Heap heap(4096);
    const std::int64_t longest = heap.max_length(size);
    EXPECT_EQ(longest, static_cast<std::int64_t>((4096 - sizeof(Array)) / size));
    EXPECT_NE(heap.allocate(longest, size), nullptr);
  }
  Heap none(sizeof(Array) - 1);
  EXPECT_EQ(none.max_length(kBool), 0);
  EXPECT_EQ(none.allocate(0, kBool), nullptr);
}

TEST(Heap, EmptyArraysAreArrays) {
  Heap heap(1000);
  Array* const a = heap.allocate(0, kInt);
  Array* const b = heap.allocate(0, kInt);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(a->length, 0);
}

}  // namespace
}  // namespace nib
