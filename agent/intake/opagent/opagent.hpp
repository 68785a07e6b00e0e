// The intake of programs that tell OProfile's agent library of their code (docs/intake-opagent.md). They are
// linked with libopagent.so.1, in whose place ours (preload/opagent.cpp) calls these.
//
// Context   [notify].
// Promises  code is in the outputs when code() returns. Nothing of what the caller points to is trusted.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::intake::opagent {

// `size` bytes that run at `address`; they lie at `bytes`, or null: where they run.
void code(const char* name, std::uint64_t address, const void* bytes, std::uint32_t size);
// `bytes`: as it was told to code(). `rows`: `count` structures of OProfile's.
void lines(const void* bytes, std::size_t count, const void* rows);
void unload(std::uint64_t address);

}  // namespace jitquill::intake::opagent
