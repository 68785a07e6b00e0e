// Which addresses belong to which function and line of a program: what stack traces need.
//
// Context   filled by one thread, then read by any.
// Does not  know code that the agent was not told of: the rows are those that the adapter made for it.
#pragma once

#include <jitquill/jitquill.h>

#include <cstdint>
#include <string>
#include <vector>

namespace nib {

class CodeTable {
 public:
  struct Place {
    const std::string* function;
    std::uint32_t line;
  };

  void add(const jitquill_code& code);
  bool empty() const noexcept { return functions_.empty(); }
  // Of the instruction at this address; function is null outside of the program.
  Place find(std::uintptr_t address) const noexcept;

 private:
  struct Row {
    std::uint32_t offset;
    std::uint32_t line;
  };
  struct Function {
    std::uintptr_t start;
    std::uintptr_t end;
    std::string name;
    std::vector<Row> rows;
  };
  std::vector<Function> functions_;  // by start
};

}  // namespace nib
