// What each call of OProfile's agent library does.
//
// Context   [notify], under the intakes' lock.
// Promises  a call that makes no sense is counted, and changes nothing. At most kMost functions are
//           remembered; what comes after those is told, but its lines are not understood.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/intake/number_table.hpp"
#include "agent/intake/text.hpp"

namespace jitquill::intake::opagent {

class LineTable;

class Listener {
 public:
  static constexpr std::size_t kMost = 1u << 20;

  // As opagent.hpp says.
  void code(const char* name, std::uint64_t address, const void* bytes, std::uint32_t size);
  void lines(const void* bytes, std::size_t count, const void* rows);
  void unload(std::uint64_t address);

 private:
  // What is needed to tell it again, with its lines.
  struct Function {
    std::uint64_t address;
    std::uint64_t bytes;  // where they were told to be
    std::uint32_t size;
    Text name;
  };

  void tell(Function& function, LineTable* lines);
  void remember(Function& function) noexcept;
  void forget(Function* function) noexcept;

  NumberTable<Function> by_address_;
  NumberTable<Function> by_bytes_;
};

Listener& listener() noexcept;

}  // namespace jitquill::intake::opagent
