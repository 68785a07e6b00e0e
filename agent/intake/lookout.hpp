// When the intakes look for JITs: at the start, and whenever the host does what a JIT does early (maps
// executable memory, starts a thread, registers frames) and objects came or went since the last look.
//
// Context   [life]: the loader's thread, or a host's thread in one of the borrowed functions (preload/).
// Promises  one dl_iterate_phdr() step where nothing changed, and nothing at all where no output wants code.
//           Never waits for the intakes' lock.
#pragma once

namespace jitquill::intake {

void look_around();

// As that, of a process that makes code: an intake may look more closely (makes_code()) than would be worth
// it elsewhere.
void look_around_in_jit();
bool makes_code() noexcept;

// At the host's exit, which waits for it a bounded time: what an intake has put off.
void last_look();

// For an intake that has to look for itself. Both are called under the intakes' lock.
struct Follower {
  void (*look)();       // at each look_around()
  void (*last_look)();  // at last_look()
};
void follow(const Follower& follower) noexcept;  // under the intakes' lock

// For an intake that has put off what must be told at _exit and exec too: `tell` is called whenever the host
// is about to be gone (life/leave.hpp), under the intakes' lock and the leaf lock. It is async-signal-safe
// and waits for nobody; what it tells is queued, and written when the leaf lock is given back. Under the
// intakes' lock; the same one again only notes that it is in this process.
void put_off(void (*tell)()) noexcept;

void tell_what_was_put_off();  // under both locks
// Without a lock. False in a child that has put off nothing itself.
bool has_put_off() noexcept;

}  // namespace jitquill::intake
