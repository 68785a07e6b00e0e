// How an intake hands on what it was told: as the C API does for runtimes that call it, but nobody vouches
// for the bytes.
//
// Context   [notify]; not under the leaf lock. The runtime's locks may be held, and the intakes' lock.
// Promises  bytes are copied without faults, unreadable ones are traps and counted. Code that is announced
//           again as it is (two intakes, a replay) is merged and counted: it is written again only if lines,
//           inlined calls or unwinding are new. What the runtime told by the C API is never overruled.
#pragma once

#include <span>
#include <string_view>

#include "writer/model/code.hpp"
#include "writer/model/status.hpp"

namespace jitquill::intake {

bool wants_code() noexcept;
bool wants_inlining() noexcept;  // else the tree of inlined calls need not be made

// For the log, which is made when there is news: said then.
void remark(std::string_view words);

// Before there is any code: for an intake that knows that some will come, and dates it back.
Status open_outputs();

// `load`: address, bytes, name, and what else the runtime knows. `bytes` where they run, or a copy in memory
// of ours.
Status tell_load(CodeLoad& load);
// The same of many; those that are copies and bring no unwinding are written together. told[i]: of loads[i].
void tell_loads(std::span<CodeLoad> loads, std::span<Status> told);
Status tell_unload(std::uint64_t address);
// The function at `from`, told before with may_move set, runs at `to` from now on.
Status tell_move(std::uint64_t from, std::uint64_t to);

}  // namespace jitquill::intake
