// What late_host opens. Its first function is registered before anything of it can have been noticed: only
// its list has that.
#include "tests/host/intake/jit.hpp"

extern "C" [[gnu::visibility("default")]] void run_late_jit() {
  static auto* const memory = static_cast<std::uint8_t*>(
      mmap(nullptr, Jit::kMemory, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  const Code first("first_of_the_library", memory);
  static const auto symfile = first.symfile();
  static jit_code_entry entry{nullptr, nullptr, symfile.data(), symfile.size()};
  __jit_debug_descriptor.first = &entry;
  __jit_debug_descriptor.relevant = &entry;
  __jit_debug_descriptor.action = 1;
  __jit_debug_register_code();
  first.expect();
  Jit& jit = *new Jit;  // maps executable memory: now it is noticed
  const Code second = jit.make("second_of_the_library");
  second.expect();
  jit.add(second.symfile());
  jit.run_all();
}
