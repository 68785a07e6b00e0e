// Which functions share address space, as perf maps them.
#include <algorithm>
#include <vector>

#include "tests/readers/jitdump/reader.hpp"

namespace jitdump_reader {

std::uint64_t Function::mapped_end() const {
  const std::uint64_t end = address + code.size();
  if (!unwinding || unwinding->mapped == 0) return end;
  return address + ((code.size() + 7) & ~std::uint64_t{7}) + unwinding->mapped;
}

std::uint64_t Function::twin_end() const {
  return twin ? *twin + ((code.size() + 7) & ~std::uint64_t{7}) + unwinding->size : 0;
}

void report_overlaps(Dump& dump) {
  struct Range {
    std::uint64_t start;
    std::uint64_t end;
    const Function* function;
  };
  std::vector<Range> ranges;
  for (const Function& function : dump.functions) {
    ranges.push_back({function.address, function.mapped_end(), &function});
    if (function.twin) ranges.push_back({*function.twin, function.twin_end(), &function});
  }
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.start < b.start; });
  const Range* widest = nullptr;
  for (const Range& range : ranges) {
    if (widest != nullptr && range.start < widest->end) {
      dump.violations.push_back(
          {range.function->offset, Rule::kLoadOverlap,
           range.function->name + " lies in the range mapped for " + widest->function->name});
    }
    if (widest == nullptr || range.end > widest->end) widest = &range;
  }
}

}  // namespace jitdump_reader
