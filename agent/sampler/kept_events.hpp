// Keeps events of the kernel alive without a descriptor each: a process has 1,024, and for a few hundred
// threads all would be ours.
//
// They are sent to ourselves through a socket, so the one pair that stays open keeps some hundred threads'.
// (Mapping the ring of another event would keep one too, before Linux 6.16.)
//
// Context   [drain]; any one thread; raw system calls.
// Promises  closed by release(), or with the process. A host that closes descriptors which are not its own
//           ends them, and nothing else.
#pragma once

#include <cstdint>
#include <span>

#include "writer/bytes/growing_array.hpp"

namespace jitquill::sampler {

class KeptEvents {
 public:
  // Descriptors, which it takes over and closes. 0, or -errno, and none is kept: -ETOOMANYREFS where the
  // kernel lets this user's processes have no more on the way (RLIMIT_NOFILE).
  int keep(std::span<const int> events) noexcept;
  // see(events) of each keep(), in any order; they are closed when it returns.
  template <class See>
  void take_back(See see) noexcept {
    int events[kMostAtOnce];
    for (const Pair& pair : pairs_.all()) {
      while (const std::size_t count = receive(pair.receives, events)) {
        see(std::span<const int>(events, count));
        close({events, count});
      }
    }
  }
  void release() noexcept;

 private:
  static constexpr std::size_t kMostAtOnce = 250;  // the kernel takes 253

  int send(std::span<const int> events) noexcept;
  int send_once(std::span<const int> events) noexcept;
  int make_pair() noexcept;
  // An end, and how it is known again: its number may be a file of the host's by then.
  struct End {
    int descriptor = -1;
    std::uint64_t inode = 0;
  };
  struct Pair {
    End receives;
    End sends;
  };

  static bool adopt(int descriptor, End& end) noexcept;
  static bool is_ours(const End& end) noexcept;
  static void release(const End& end) noexcept;
  static std::size_t receive(const End& from, int (&events)[kMostAtOnce]) noexcept;
  static void close(std::span<const int> events) noexcept;

  GrowingArray<Pair> pairs_;
};

}  // namespace jitquill::sampler
