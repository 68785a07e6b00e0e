// What a runtime posted, as one line of text: `thread stops: thread 7, sleeps, info 0`.
//
// Context   any; puts into the caller's buffer.
// Promises  no control character, whatever the payload is.
#pragma once

#include "writer/bytes/bytes.hpp"
#include "writer/model/run.hpp"

namespace jitquill {

// Of an event that is not in our table its number and its size.
void put_post(const Post& post, Bytes& out) noexcept;

}  // namespace jitquill
