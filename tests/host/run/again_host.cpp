// Run news of several outputs of one process: started, stopped, started again. Arguments: how many times,
// then "stop" or "kill": how the last one ends. Each has three calls of one function, on two threads of which
// one lives through all of them. Prints the output folders.
#include <jitquill/jitquill.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>

namespace {

void check(jitquill_status status) {
  if (status != JITQUILL_OK) std::exit(4);
}

void call(std::uint64_t id) {
  for (int i = 0; i < 3; ++i) {
    check(jitquill_enter(id, 1));
    check(jitquill_leave(id, 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long times = std::strtol(argv[1], nullptr, 10);
  for (long time = 1; time <= times; ++time) {
    check(jitquill_start(nullptr));
    const std::string name = "f" + std::to_string(time);
    const jitquill_function_info info = {sizeof info, 1, name.c_str(), "/src/program.lang"};
    std::uint64_t id = 0;
    check(jitquill_function(&info, &id));
    call(id);
    std::thread([id] { call(id); }).join();
    std::puts(jitquill_output_folder());
    std::fflush(stdout);
    if (time == times && argv[2] == std::string_view("kill")) std::raise(SIGKILL);
    check(jitquill_stop());
  }
  return 0;
}
