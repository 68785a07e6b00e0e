// The host is about to be gone, or to become another program: what must be written then.
//
// Context   [life]; async-signal-safe, also in a child of fork or vfork. A few loads where nothing was
//           announced, one system call more to know a child of vfork.
// Promises  returns within a bounded time, whatever other threads were stopped in the middle of: it waits 100
//           ms at most for the intakes' lock, and as long for the leaf lock. What intakes put off is told. In
//           a child that has announced nothing of its own, and in a vfork child, nothing is done: the outputs
//           in its memory are its parent's. The process may stay after all (an exec that fails): code news
//           goes on, and a later call writes anew. The outputs of calls have ended: stayed() says so.
#pragma once

namespace jitquill {

void leave();  // not noexcept: a cancellation of an asynchronous type may act at its end

void stayed();  // behind an exec that failed

}  // namespace jitquill
