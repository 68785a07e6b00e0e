// The rules of `ghc-events validate threads`: in the order of time, each thread is created once, runs after
// it was created, stopped or woken, on a capability where no other runs, and does nothing after it finished.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace eventlog_reader {

struct Event;

class ThreadOrder {
 public:
  struct Fault {
    std::uint64_t at;  // byte of the file
    std::string reason;
  };

  void take(std::uint64_t at, const Event& event);
  // Of all that was taken.
  std::vector<Fault> faults() const;

 private:
  struct Step {
    std::uint64_t when_ns;
    std::uint64_t at;
    std::uint16_t number;
    std::uint16_t capability;
    std::uint64_t thread;
    std::uint64_t status;
  };
  std::vector<Step> steps_;
};

}  // namespace eventlog_reader
