// The heap by itself: what survives a collection, where new objects go, and the limit.
#include "nib/heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <new>
#include <random>
#include <set>
#include <vector>

namespace nib {
namespace {

constexpr Kind kInt = Kind::kWords;
constexpr Kind kBool = Kind::kBytes;

// A heap with one thread, whose roots are in a list.
struct OneThread {
  Heap heap;
  ThreadWords thread;
  std::vector<Object*> roots;

  explicit OneThread(std::size_t limit, bool is_stressed = false)
      : heap({.limit = limit, .is_stressed = is_stressed}) {}

  template <class T>
  T* make(T value) {
    const std::size_t size = size_of(value.head);
    std::byte* const memory = heap.take(size, thread);
    if (memory == nullptr) return nullptr;
    value.head.place = Heap::is_small(size) ? Place::kBlock : Place::kLarge;
    return new (memory) T(value);
  }
  Array* array(Kind kind, std::int64_t length) {
    Array* const made = make(Array{{.kind = kind}, length});
    if (made != nullptr)
      std::memset(made->elements(), 0, static_cast<std::size_t>(length) * element_size(kind));
    return made;
  }
  void collect() {
    thread.next = thread.end = nullptr;
    heap.start_marking();
    for (Object* each : roots) heap.mark(each);
    heap.finish_marking();
    heap.sweep();
  }
};

TEST(Heap, TheLimitCountsElementsAndHeads) {
  OneThread one(1000);
  Array* const first = one.array(kInt, 100);
  ASSERT_NE(first, nullptr);
  const auto left = static_cast<std::int64_t>(1000 - 100 * element_size(kInt) - 2 * sizeof(Array));
  EXPECT_EQ(one.array(kBool, left + 1), nullptr);
  EXPECT_NE(one.array(kBool, left), nullptr);
  EXPECT_EQ(one.array(kBool, 0), nullptr);
}

TEST(Heap, TheLongestArrayFillsAnEmptyHeap) {
  for (const std::size_t limit : {4096u, 1u << 20}) {
    for (const Kind kind : {kInt, kBool}) {
      OneThread one(limit);
      const std::int64_t longest = one.heap.max_length(kind);
      EXPECT_EQ(longest, static_cast<std::int64_t>((limit - sizeof(Array)) / element_size(kind)));
      EXPECT_NE(one.array(kind, longest), nullptr);
    }
  }
  OneThread none(sizeof(Array) - 1);
  EXPECT_EQ(none.heap.max_length(kBool), 0);
  EXPECT_EQ(none.array(kBool, 0), nullptr);
}

TEST(Heap, EmptyArraysAreArrays) {
  OneThread one(1000);
  Array* const a = one.array(kBool, 0);
  Array* const b = one.array(kInt, 0);
  ASSERT_NE(a, nullptr);
  ASSERT_NE(b, nullptr);
  EXPECT_NE(a, b);
}

TEST(Heap, WhatIsNotReachedMakesRoom) {
  for (const std::int64_t length : {10, 900, 5000}) {
    OneThread one(std::size_t{1} << 20);
    std::size_t made = 0;
    while (made < 100'000 / static_cast<std::size_t>(length)) {
      if (one.array(kInt, length) == nullptr) {
        one.collect();
        EXPECT_EQ(one.heap.used(), 0u);
      } else {
        ++made;
      }
    }
  }
}

TEST(Heap, WhatIsReachedStaysWhereAndAsItIs) {
  OneThread one(std::size_t{1} << 20, true);
  Array* const all = one.array(Kind::kReferences, 50);
  one.roots = {&all->head};
  auto** const elements = static_cast<Array**>(all->elements());
  for (int i = 0; i < 50; ++i) {
    elements[i] = one.array(kInt, i * 30);
    ASSERT_NE(elements[i], nullptr);
    std::memset(elements[i]->elements(), i, static_cast<std::size_t>(i) * 30 * sizeof(std::int64_t));
    one.array(kInt, 77);
    one.collect();
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(elements[i]->length, i * 30);
    for (int k = 0; k < i * 30 * 8; ++k) ASSERT_EQ(elements[i]->text()[static_cast<std::size_t>(k)], i);
  }
}

TEST(Heap, RecordsAreFollowedByTheirMasks) {
  OneThread one(std::size_t{1} << 20, true);
  const auto record = [&](std::uint16_t references) {
    struct Three {
      Object head;
      Object* fields[3];
    };
    return one.make(Three{{.kind = Kind::kRecord, .fields = 3, .references = references}, {}});
  };
  auto* const a = record(0b101);
  a->fields[0] = &one.array(kInt, 1)->head;
  a->fields[1] = reinterpret_cast<Object*>(0x1234);  // an int
  a->fields[2] = &record(0)->head;
  one.roots = {&a->head};
  one.collect();
  EXPECT_EQ(one.heap.live(), size_of(a->head) + size_of(*a->fields[0]) + size_of(*a->fields[2]));
  a->fields[0] = nullptr;
  one.collect();
  EXPECT_EQ(one.heap.live(), size_of(a->head) + size_of(*a->fields[2]));
}

// A list of 10^6 needs no stack.
TEST(Heap, DeepStructuresAreFollowed) {
  OneThread one(std::size_t{1} << 26);
  struct Cell {
    Object head;
    Object* next;
  };
  Object* first = nullptr;
  for (int i = 0; i < 1'000'000; ++i) {
    Cell* const made = one.make(Cell{{.kind = Kind::kRecord, .fields = 1, .references = 1}, first});
    ASSERT_NE(made, nullptr);
    first = &made->head;
  }
  one.roots = {first};
  one.collect();
  EXPECT_EQ(one.heap.live(), 1'000'000 * sizeof(Cell));
}

// New objects never lie where one is that is still used: whatever the sizes, and however often.
TEST(Heap, NewObjectsAreOnFreeMemory) {
  OneThread one(std::size_t{1} << 22, true);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 10; ++i) {
      Array* const made = one.array(kBool, random() % 100 == 0 ? 20'000 : random() % 600);
      ASSERT_NE(made, nullptr);
      std::memset(made->elements(), round & 0x7f, static_cast<std::size_t>(made->length));
      made->head.unused = static_cast<std::uint16_t>(round & 0x7f);
      one.roots.push_back(&made->head);
    }
    while (one.roots.size() > 200) {
      std::swap(one.roots[random() % one.roots.size()], one.roots.back());
      one.roots.pop_back();
    }
    one.collect();
    for (Object* each : one.roots)
      for (const char byte : reinterpret_cast<Array*>(each)->text()) ASSERT_EQ(byte, each->unused);
  }
}

}  // namespace
}  // namespace nib
