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

void report_overlaps(Dump& dump) {
  std::vector<const Function*> sorted;
  for (const Function& function : dump.functions) sorted.push_back(&function);
  std::sort(sorted.begin(), sorted.end(),
            [](const Function* a, const Function* b) { return a->address < b->address; });
  const Function* widest = nullptr;
  for (const Function* function : sorted) {
    if (widest != nullptr && function->address < widest->mapped_end()) {
      dump.violations.push_back({function->offset, Rule::kLoadOverlap,
                                 function->name + " lies in the range mapped for " + widest->name});
    }
    if (widest == nullptr || function->mapped_end() > widest->mapped_end()) widest = function;
  }
}

}  // namespace jitdump_reader
