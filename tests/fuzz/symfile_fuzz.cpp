// An input is a symbol file in memory, or, if it is short, the code at a function's entry.
#include "agent/intake/symfile/entry_code.hpp"
#include "tests/fuzz/ground.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/unit/intake/mutations.hpp"

namespace {

constexpr std::size_t kMostCode = 64;

void read_code(fuzz::Bytes code) {
  const auto entry = jitquill_symfile_v1.read_entry(code.data(), code.size());
  fuzz::require(entry.room <= code.size(), "the room of an entry is inside its code");
  fuzz::require((entry.room == 0) == (entry.instructions == 0), "what has room returns");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::begin({});
  if (size <= kMostCode) read_code({data, size});
  mutations::Outcome outcome;
  mutations::look({data, size}, outcome);
  fuzz::require(outcome.faults == 0, "functions of a symbol file ascend, and so do their lines");
  return 0;
}
