// Which addresses belong to which function and line of a program: what stack traces need.
//
// Context   any thread.
// Does not  know code that the agent was not told of: the rows are those that the adapter made for it.
#pragma once

#include <jitquill/jitquill.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace nib {

class CodeTable {
 public:
  struct Place {
    const std::string* function;  // good as long as the table
    std::uint32_t line;
  };

  void add(const jitquill_code& code);
  void remove(const void* start);
  void move(const void* from, const void* to);
  bool empty() const;
  // Of the instruction at this address, what was inlined first; none outside of the program.
  void find(std::uintptr_t address, std::vector<Place>& places) const;

 private:
  struct Row {
    std::uint32_t offset;
    std::uint32_t value;  // a line, or an index of places
  };
  struct InlinePlace {
    std::int32_t caller;
    Place place;
  };
  struct Function {
    std::size_t size;
    const std::string* name;
    std::vector<Row> lines;
    std::vector<Row> inline_rows;
    std::vector<InlinePlace> inline_places;
  };
  static std::uint32_t value_at(const std::vector<Row>& rows, std::size_t offset) noexcept;
  const std::string* known(const char* name) { return &*names_.emplace(name).first; }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Function> functions_;  // by start
  std::set<std::string> names_;
};

}  // namespace nib
