// Runs one function, unloads it, and runs another at the same address. Arguments: milliseconds of CPU time of
// each.
#include "tests/tools/perf/host_clock.hpp"
#include "tests/tools/perf/machine_code.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::uint64_t milliseconds = std::strtoul(argv[1], nullptr, 10);
  std::uint8_t* const addr = perf_hosts::executable_memory(4096);
  const auto run = reinterpret_cast<void (*)()>(addr);
  for (const char* version : {"jit_version_one", "jit_version_two"}) {
    perf_hosts::MachineCode code;
    code.push(perf_hosts::kRbx);
    code.spin(1'000);
    code.pop(perf_hosts::kRbx);
    code.ret();
    if (!code.place(addr, version, "/src/rejit.nib", 1024)) return 3;
    perf_hosts::run_for(version, milliseconds, run);
    if (jitquill_code_unloaded(addr) != JITQUILL_OK) return 4;
  }
  perf_hosts::print_anonymous_code();
}
