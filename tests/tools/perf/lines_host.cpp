// Runs a jitted function whose four lines take 1, 2, 3 and 4 parts of its time. Arguments: milliseconds of
// CPU time. Prints "line <start> <end> <number>" for the addresses of each line.
#include "tests/tools/perf/host_clock.hpp"
#include "tests/tools/perf/machine_code.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  constexpr std::uint32_t kLines[] = {7, 9, 8, 1200};  // not ascending, one far away
  perf_hosts::MachineCode code;
  std::uint32_t starts[5] = {};
  for (std::uint32_t i = 0; i < 4; ++i) {
    starts[i] = static_cast<std::uint32_t>(code.size());
    code.line(kLines[i]);
    code.spin(100 * (i + 1));
  }
  code.ret();
  starts[4] = static_cast<std::uint32_t>(code.size());
  std::uint8_t* const addr = perf_hosts::executable_memory(4096);
  if (!code.place(addr, "jit_lines", "/src/lines.nib", 1024)) return 3;
  perf_hosts::run_for("jitted", std::strtoul(argv[1], nullptr, 10), reinterpret_cast<void (*)()>(addr));
  for (std::uint32_t i = 0; i < 4; ++i) {
    std::printf("line %llx %llx %u\n", reinterpret_cast<unsigned long long>(addr + starts[i]),
                reinterpret_cast<unsigned long long>(addr + starts[i + 1]), kLines[i]);
  }
}
