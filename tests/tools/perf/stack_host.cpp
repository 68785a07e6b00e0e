// Runs jitted code of many shapes of frame, 30 calls deep: main, jitted recursion, a C function, jitted work,
// a C function. Arguments: "roomy" or "packed" (no room behind the functions), milliseconds of CPU time.
#include <unistd.h>

#include <array>

#include "tests/tools/perf/host_clock.hpp"
#include "tests/tools/perf/machine_code.hpp"

namespace {

using perf_hosts::MachineCode;
using perf_hosts::Register;

constexpr int kDepth = 30;
constexpr std::array<Register, 5> kPreserved = {perf_hosts::kRbp, perf_hosts::kRbx, perf_hosts::kR12,
                                                perf_hosts::kR13, perf_hosts::kR14};
constexpr std::size_t kShapes = kPreserved.size() + 1;

using Work = void (*)();
std::array<Work, kShapes> works;
std::uint64_t calls = 0;

}  // namespace

// Called from jitted code: spins, and now and then reads the time (vdso) and makes a system call (kernel).
extern "C" __attribute__((noinline)) void native_leaf() {
  for (int i = 0; i < 1'000; ++i) asm volatile("");
  timespec now = {};
  if (++calls % 8 == 0) clock_gettime(CLOCK_MONOTONIC, &now);
  if (calls % 16 == 0) (void)getppid();
}

extern "C" __attribute__((noinline)) void native_middle() {
  for (const Work work : works) {
    work();
    asm volatile("");  // no tail call: this frame is part of the stack
  }
}

namespace {

// Saves `saved` registers and overwrites them: who follows frame pointers through it goes astray.
MachineCode make_work(std::size_t saved) {
  MachineCode code;
  for (std::size_t i = 0; i < saved; ++i) code.push(kPreserved[i]);
  const auto padding =
      static_cast<std::uint32_t>(saved % 2 == 0 ? 8 : 0) + 16 * static_cast<std::uint32_t>(saved);
  if (padding != 0) code.allocate(padding);  // the stack is aligned to 16 at calls
  for (std::size_t i = 0; i < saved; ++i) code.set(kPreserved[i], 0x5A5A5A5A);
  code.spin(400);
  code.call(reinterpret_cast<const void*>(native_leaf));
  code.spin(400);
  if (padding != 0) code.free(padding);
  for (std::size_t i = saved; i > 0; --i) code.pop(kPreserved[i - 1]);
  code.ret();
  return code;
}

// void recurse(int depth): itself depth times, then native_middle().
MachineCode make_recursion() {
  MachineCode code;
  code.push(perf_hosts::kRbx);
  code.push(perf_hosts::kRbp);
  code.allocate(8);
  code.bytes({0x89, 0xFB});  // mov ebx, edi
  code.set(perf_hosts::kRbp, 0x5A5A5A5A);
  code.spin(20);
  code.bytes({0x85, 0xDB, 0x74, 0x0A});  // test ebx, ebx; jz to the call of native_middle
  code.bytes({0x8D, 0x7B, 0xFF});        // lea edi, [rbx - 1]
  code.call_own_start();
  code.bytes({0xEB, 0x0C});  // jmp over it
  code.call(reinterpret_cast<const void*>(native_middle));
  code.free(8);
  code.pop(perf_hosts::kRbp);
  code.pop(perf_hosts::kRbx);
  code.ret();
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool packed = std::strcmp(argv[1], "packed") == 0;
  std::uint8_t* next = perf_hosts::executable_memory(64 * 1024);
  const auto place = [&](const MachineCode& code, const char* name) {
    std::uint8_t* const addr = next;
    const std::size_t spacing = packed ? (code.size() + 63) & ~std::size_t{63} : 1024;
    next += spacing;
    if (!code.place(addr, name, "/src/stack.nib", packed ? 0 : spacing - code.size())) std::exit(3);
    return addr;
  };
  for (std::size_t saved = 0; saved < kShapes; ++saved) {
    const char name[] = {'j', 'i', 't', '_', 'w', 'o', 'r', 'k', '_', static_cast<char>('0' + saved), 0};
    works[saved] = reinterpret_cast<Work>(place(make_work(saved), name));
  }
  const auto recurse = reinterpret_cast<void (*)(int)>(place(make_recursion(), "jit_recurse"));
  perf_hosts::run_for("jitted", std::strtoul(argv[2], nullptr, 10), [&] { recurse(kDepth); });
  perf_hosts::print_anonymous_code();
}
