// Native functions that no pattern names: their hooks return at once, where the drain has found so.
//
// A table by the low bits of the address that the hook's call returns to, with room for one each: a function
// that finds no room is judged by the drain each time, as all are that are not here. What is in it is of the
// program itself, which is never unloaded: other code at the same address would go unseen otherwise.
//
// Context   [hook]: reads (hooks/x86_64/native.S). may_hold(): [life]. add(): under the drain's
//           lock; clear(): too, or in a child, whose drain is gone.
// Promises  the trees are the same. What an exception removed ends with the next event that is put, so
//           without those of functions in here.
#pragma once

#include <cstdint>

namespace jitquill::left_alone {

// [low, high): code that stays.
void may_hold(std::uint64_t low, std::uint64_t high) noexcept;
void add(std::uint64_t site) noexcept;
void clear() noexcept;

}  // namespace jitquill::left_alone
