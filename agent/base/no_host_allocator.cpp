// What part of libstdc++ asks of the host's allocator without ever being called: the demangler's other face
// (demangler.hpp) comes with the one that is used, in one object. The version script keeps the names in here.
#include <cstddef>

extern "C" void* realloc(void*, std::size_t) noexcept {
  return nullptr;  // no memory: that face says so to its caller
}
extern "C" void free(void*) noexcept {}
