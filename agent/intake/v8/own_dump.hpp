// Whether this process writes a jitdump of its own (node --perf-prof): perf would find its code twice.
//
// Context   [notify]; raw system calls only.
// Does not  see a dump that is not mapped, which perf would not see either.
#pragma once

#include <cstdint>
#include <string_view>

namespace jitquill::intake::v8 {

// `ours`: the folder of our own dump; empty = there is none.
bool has_own_dump(std::uint32_t pid, std::string_view ours) noexcept;

// As that, of a file laid out as /proc/self/maps.
bool names_own_dump(const char* maps, std::uint32_t pid, std::string_view ours) noexcept;

}  // namespace jitquill::intake::v8
