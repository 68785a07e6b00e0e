// An agent for tests: the program exports the table that the header looks for, and keeps what is announced.
//
// Context   any thread; one lock.
#pragma once

#define JITQUILL_CAPTURE_ROOM 96  // what jitquill_unwinding_size() answers for a known frame

#include <jitquill/jitquill.h>

#include <cstdint>
#include <string>
#include <vector>

namespace capture {

struct Code {
  std::string name, file;
  const std::uint8_t* addr = nullptr;
  std::size_t size = 0, room = 0;
  std::vector<std::uint8_t> bytes;
  bool unwinding = false;
  std::vector<jitquill_line> lines;
  std::vector<jitquill_frame_event> frame;
  std::uint64_t flags = 0;
  std::vector<jitquill_site> sites;
  std::uint8_t* writable = nullptr;
  std::size_t inline_position_count = 0;
  std::vector<jitquill_inline_row> inline_rows;
};

struct Move {
  const std::uint8_t *from = nullptr, *to = nullptr;
  std::size_t room = 0;
  std::uint8_t* writable = nullptr;
};

// How often the hooks were called, by all code so far.
struct SiteCalls {
  std::uint64_t enter = 0, leave = 0, tail = 0;
  bool operator==(const SiteCalls&) const = default;
};

// All loads since clear(), in order.
std::vector<Code> loads();
std::vector<const void*> unloads();
std::vector<Move> moves();
const Code load_of(const std::string& name);
void clear();
void set_wanted(bool wanted);
void set_sites_wanted(bool wanted);  // not, at first
SiteCalls site_calls();
void switch_sites(const Code& code, bool on);

// Called inside jitquill_code_unloaded(), before it returns.
using OnUnload = void (*)(const void* addr);
void on_unload(OnUnload callback);

}  // namespace capture
