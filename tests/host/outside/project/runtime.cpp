// A runtime in C++ that compiles add_1, add_2 and add_3 into code that reads its bytes from a second mapping.
#include <jitquill/jitquill.h>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kSpacing = 512;
constexpr std::size_t kSize = 4096;

// Written through one mapping and run through another, as hardened runtimes do.
struct DualMapping {
  DualMapping() {
    const int memory = memfd_create("code", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, kSize) != 0) return;
    writable = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    executable = mmap(nullptr, kSize, PROT_EXEC, MAP_SHARED, memory, 0);
    close(memory);
  }
  bool is_good() const { return writable != MAP_FAILED && executable != MAP_FAILED; }

  void* writable = MAP_FAILED;
  void* executable = MAP_FAILED;
};

using Function = int (*)(int);

Function compile(const DualMapping& mapping, unsigned n) {
  auto* const bytes = static_cast<unsigned char*>(mapping.writable) + n * kSpacing;
  auto* const addr = static_cast<unsigned char*>(mapping.executable) + n * kSpacing;
  const std::array<unsigned char, 4> code = {0x8D, 0x47, static_cast<unsigned char>(n), 0xC3};
  std::memcpy(bytes, code.data(), code.size());
  const std::string name = "add_" + std::to_string(n);
  const std::array<jitquill_line, 2> lines = {{{0, n, 1, 0, nullptr}, {3, n, 9, 0, nullptr}}};

  jitquill_code announced{};
  announced.struct_size = sizeof announced;
  announced.addr = addr;
  announced.bytes = bytes;
  announced.size = code.size();
  announced.name = name.c_str();
  announced.file = "/home/somebody/adders.src";
  announced.lines = lines.data();
  announced.line_count = lines.size();
  announced.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  announced.room = kSpacing - code.size();
  const jitquill_status status = jitquill_code_loaded(&announced, nullptr);
  if (status != JITQUILL_OK && status != JITQUILL_NO_AGENT) return nullptr;
  return reinterpret_cast<Function>(addr);
}

}  // namespace

int main() {
  const DualMapping mapping;
  if (!mapping.is_good()) return 1;
  int result = 0;
  for (unsigned n = 1; n <= 3; ++n) {
    const Function add = compile(mapping, n);
    if (add == nullptr) return 1;
    result = add(result);
  }
  std::printf("result %d\n", result);
  return 0;
}
