// What the agent is told of a run while it runs: the one place that knows its calls.
//
// Context   any thread of a program; a collection is told by the thread that collects.
#pragma once

#include <cstdint>
#include <string_view>

#include "nib/heap.hpp"

namespace nib {

inline void tell_thread_begins(std::uint64_t) noexcept {}
inline void tell_thread_ends(std::uint64_t) noexcept {}
inline void tell_collection_begins(const Heap&) noexcept {}
inline void tell_collection_ends(const Heap&) noexcept {}
inline void tell_marker(std::string_view) noexcept {}
inline void tell_message(std::string_view) noexcept {}

}  // namespace nib
