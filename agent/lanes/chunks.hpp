// Chunks by their size: handed out, grown at the end of the file, given back.
//
// Context   [hook] and [drain], under the pool's lock.
// Promises  memory that was handed out has pages: a file system that is full shows here, as no chunk, and not
//           as a SIGBUS later. A chunk that is handed out has no record in it.
#pragma once

#include <cstdint>

#include "agent/lanes/pool_page.hpp"

namespace jitquill::lanes::chunks {

// Of the `number`th chunk of a lane.
constexpr std::uint32_t class_of(std::uint32_t number) noexcept {
  return number >= kChunkClasses ? kChunkClasses - 1 : number - 1;
}

// A chunk of that class if there is one, else of another one that is free, else 0. Its state stays kFree:
// whoever took it sets all of the header but `size`.
std::uint64_t take(PoolPage& pool, std::uint32_t wanted_class) noexcept;

// Puts a chunk of zeroed records into its list.
void link_free(PoolPage& pool, std::uint64_t offset) noexcept;

// A new one at the end of the file; 0: at the cap, or the file system is full.
std::uint64_t grow(PoolPage& pool, std::uint32_t chunk_class) noexcept;

// Lets no record be in the chunk.
void clear(std::uint8_t* chunk, std::uint64_t size) noexcept;

// Gives memory of the file its pages. False: there are none.
bool back(const PoolPage& pool, std::uint64_t offset, std::uint64_t size) noexcept;

}  // namespace jitquill::lanes::chunks
