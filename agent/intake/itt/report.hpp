// What one report of an ITT emitter says, copied out of its structures; all pointers in those die when the
// report returns.
//
// Context   [notify], under the intakes' lock: it allocates from the intakes' memory.
// Promises  nothing of the structures is trusted: pointers that cannot be read and counts that cannot be true
//           leave the part out, and are counted.
#pragma once

#include <cstdint>

#include "agent/intake/text.hpp"
#include "writer/model/code.hpp"

namespace jitquill::intake::itt {

// Where a structure has what not all of them have in the same place (events.def); 0 = nowhere.
struct Layout {
  std::uint32_t size;
  std::uint32_t parent_at;
  std::uint32_t class_at;
  std::uint32_t file_at;
};

// The structure itself.
class Raw {
 public:
  static constexpr std::size_t kMost = 72;

  Raw() noexcept = default;
  // False if it cannot be read.
  bool read(const void* from, const Layout& layout) noexcept;

  const Layout& layout() const noexcept { return layout_; }
  std::uint32_t u32(std::size_t at) const noexcept;
  std::uint64_t u64(std::size_t at) const noexcept;

 private:
  std::uint8_t bytes_[kMost] = {};
  Layout layout_ = {};
};

struct Report {
  std::uint32_t id = 0;
  std::uint32_t parent = 0;  // of an inlined method
  std::uint64_t address = 0;
  std::uint32_t size = 0;
  Text name;  // "class.method" where a class is given
  Text file;
  Growing<Line> lines = {};

  Report() noexcept = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  ~Report() { lines.release(); }

  bool has_code() const noexcept { return address != 0 && size != 0; }
  // False if no code can be there.
  bool read(const Raw& raw) noexcept;
};

}  // namespace jitquill::intake::itt
