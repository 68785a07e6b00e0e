// What stands in for the agent behind the intakes: it takes what they tell, and looks whether that is what
// they promise.
//
// Context   fuzzers. told.hpp, lookout.hpp, open_plugin.hpp and the arena are defined here instead.
// Promises  the intakes' memory is the sanitizer's, so that it sees each byte too far.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fuzz {

// Ends the run: the fuzzer keeps the input.
[[noreturn]] void break_off(const char* promise);
inline void require(bool is_kept, const char* promise) {
  if (!is_kept) break_off(promise);
}

struct Setting {
  std::uint8_t allocations = 0;  // that succeed before each fails; 0 = none fails
  bool wants_inlining = false;
  bool has_plugin = true;
  std::uint32_t tid = 1;  // whose thread the next call is on
};

// Forgets what was told before.
void begin(const Setting& setting);
void run_on(std::uint32_t tid);
// Memory is there again.
void stop_failing();
bool has_any_failed();
// Whatever blocks of the intakes' memory are still taken, how many they were: their objects begin anew then.
std::size_t free_all();

// Whether the process has a dump of its own, so that all is left to it.
void leave_to_own_dump(bool is_left);

// What the agent does for an intake that follows a runtime, or has put something off.
void look();
void last_look();
void tell_what_was_put_off();

// Functions that were told, and not withdrawn.
std::uint64_t live_functions();

}  // namespace fuzz
