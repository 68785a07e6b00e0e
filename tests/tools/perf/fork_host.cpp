// Runs code of before a fork and code of after it, in parent and child. Argument: milliseconds of CPU time of
// each.
#include <sys/wait.h>
#include <unistd.h>
#include <string>

#include "tests/tools/perf/host_clock.hpp"
#include "tests/tools/perf/machine_code.hpp"

namespace {

constexpr std::size_t kRoom = 1024;

bool place_spinner(std::uint8_t* addr, const char* name) {
  perf_hosts::MachineCode code;
  code.push(perf_hosts::kRbx);
  code.spin(1'000);
  code.pop(perf_hosts::kRbx);
  code.ret();
  return code.place(addr, name, "/src/fork.nib", kRoom);
}

// Both places are those of the other process too: only pid and time tell the later code apart.
int run_both(std::uint8_t* old_code, std::uint8_t* new_code, const char* who, std::uint64_t milliseconds) {
  const auto old_function = reinterpret_cast<void (*)()>(old_code);
  const auto new_function = reinterpret_cast<void (*)()>(new_code);
  const std::string name = std::string("jit_of_") + who;
  perf_hosts::run_for((std::string("inherited_") + who).c_str(), milliseconds, old_function);
  if (!place_spinner(new_code, name.c_str())) return 1;
  perf_hosts::run_for(name.c_str(), milliseconds, new_function);
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::uint64_t milliseconds = std::strtoul(argv[1], nullptr, 10);
  std::uint8_t* const code = perf_hosts::executable_memory(2 * 4096);
  if (!place_spinner(code, "jit_inherited")) return 3;
  const pid_t child = fork();
  if (child == 0) _exit(run_both(code, code + 4096, "child", milliseconds));
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) return 4;
  return run_both(code, code + 4096, "parent", milliseconds);
}
