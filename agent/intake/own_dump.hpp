// A jitdump that the process writes by itself (lli's MCJIT, node --perf-prof, a Java VM with perf's agent):
// perf would find its code twice. Unless own_dump=take asks for it, all that intakes overhear is left to it.
//
// Context   as each says; raw system calls only.
// Does not  see a dump that is not mapped, which perf would not see either.
#pragma once

#include <cstdint>
#include <string_view>

namespace jitquill::intake {

// [notify], not under the leaf lock: the process has mapped one. Counted, and said once.
void saw_own_dump();

// Whether what is overheard from now on is left to it. Any context.
bool is_left_to_own_dump() noexcept;

// Whether it is in ours, too. Of two stamps perf takes the later: so nothing is dated back.
bool is_in_both_dumps() noexcept;

// [notify], not under the leaf lock: for who cannot count on having seen it being mapped.
void look_for_own_dump();

// Whether a file laid out as /proc/self/maps has one. `ours`: the folder of our own dump; empty = there is
// none.
bool names_own_dump(const char* maps, std::uint32_t pid, std::string_view ours) noexcept;

}  // namespace jitquill::intake
