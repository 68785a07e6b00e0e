// The forms in which code of a function exists, and where one is left for another.
//
// The first tier is compiled at once and counts: calls, loop turns, and which blocks ever ran. When a
// function has run often, the second tier is made of that: small functions are inlined, and blocks that never
// ran are left out. A loop that turns meanwhile goes on in the second tier from the begin of its body, and
// whoever comes to a block that was left out goes on in the first. Both are a transfer: the variables in
// scope go by the thread's words, the frame is given back, and a continuation, code that begins at that
// block, takes the call's place.
//
// Context   any; plain values.
#pragma once

#include <cstdint>
#include <vector>

namespace nib {

class Executable;
struct FaultSite;

enum class Tier : std::uint8_t { kFirst, kSecond };

// Which code of a function: from its begin, from the begin of a block on, or what calls it in a new thread.
struct Form {
  enum class Entry : std::uint8_t { kWhole, kBlock, kSpawn };

  Entry entry = Entry::kWhole;
  Tier tier = Tier::kFirst;
  std::uint32_t block = 0;  // Block::number

  auto operator<=>(const Form&) const noexcept = default;
};

// Code that jitted code asks for while it runs.
struct CodePoint {
  Executable* executable;
  std::uint32_t function;
  Form form;
  const FaultSite* site;  // if it cannot be made
};

// What the first tier counts, of one function.
struct Profile {
  std::int32_t heat = 0;              // calls and loop turns until the second tier
  std::vector<std::uint8_t> has_run;  // by Block::number
};

}  // namespace nib
