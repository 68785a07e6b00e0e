// Puts the records of the two streams: notes of what is mapped where, and buffers of samples.
//
// Context   any; puts into the caller's buffer. Failed buffers are the caller's to see (Bytes::failed()).
// Promises  a record is put whole or not at all: kTooLarge if one of its numbers does not fit into the file's
//           words. Words that a note has no use for are 0.
// Does not  put the header (header.hpp), nor know which samples go into which buffer.
#pragma once

#include <cstdint>
#include <span>

#include "writer/model/status.hpp"
#include "writer/oprofile/words.hpp"

namespace jitquill::oprofile {

// Of an index in the hash map: the path is not known. Put as all ones in the file's width.
inline constexpr std::uint64_t kUnknownPath = ~std::uint64_t{0};
// The root, which is never a path of anything: by our convention nothing is there any more.
inline constexpr std::uint64_t kNoPath = 0;

struct Mapping {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;  // of the mapping in its file
  std::uint64_t path = kUnknownPath;
  std::uint64_t pid = 0;
};

// The newest mapping of an address holds.
Status put_map(const Words& words, const Mapping& mapping, Bytes& out) noexcept;
// All mappings of the process are gone but this one.
Status put_exec(const Words& words, const Mapping& mapping, Bytes& out) noexcept;
Status put_fork(const Words& words, std::uint64_t parent_pid, std::uint64_t child_pid, Bytes& out) noexcept;
// A module of the kernel was loaded.
Status put_drop_modules(const Words& words, Bytes& out) noexcept;
Status put_exit(const Words& words, std::uint64_t pid, Bytes& out) noexcept;

enum class ProfilerState : std::uint8_t { kStopped = 0, kStopping = 1, kRunning = 2 };

struct Sample {
  std::uint64_t address = 0;
  std::uint64_t count = 1;    // how often it hit; kBadArgument if that is 0
  std::uint64_t counter = 0;  // from 0
  std::uint64_t pid = 0;
};

// Samples with the same address, counter and process may be there several times: readers add them.
Status put_buffer(const Words& words, std::uint64_t cpu, ProfilerState state, std::span<const Sample> samples,
                  Bytes& out) noexcept;

}  // namespace jitquill::oprofile
