// The agent is first called inside a signal handler, where it may not start its thread. Argument: where the
// handler runs: `stack`, `signal-stack`, or `nested`: in a handler that a handler raised.
// Exit code 5: it started one there, 6: not afterwards.
#include <jitquill/jitquill.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace {

volatile bool g_is_nested = false;
std::uint64_t g_function = 0;

long tasks() {
  long count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) count += task.exists();
  return count;
}

std::uint64_t function(const char* name) {
  const jitquill_function_info info = {sizeof info, 1, name, "/src/program.lang"};
  std::uint64_t id = 0;
  if (jitquill_function(&info, &id) != JITQUILL_OK || id == 0) std::exit(3);
  return id;
}

void call(std::uint64_t id) {
  if (jitquill_enter(id, 1) != JITQUILL_OK || jitquill_leave(id, 1) != JITQUILL_OK) std::exit(4);
}

void handle(int signal) {
  if (signal == SIGUSR1 && g_is_nested) {
    raise(SIGUSR2);
    return;
  }
  g_function = function("handled");
  call(g_function);
  if (tasks() != 1) std::exit(5);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  (void)jitquill_wants_code();  // looks the agent up
  alignas(16) static char memory[64 * 1024];
  const stack_t stack = {memory, 0, sizeof memory};
  struct sigaction action {};
  action.sa_handler = handle;
  action.sa_flags = SA_NODEFER;  // so that the mask does not tell
  if (std::strcmp(argv[1], "signal-stack") == 0) {
    sigaltstack(&stack, nullptr);
    action.sa_flags |= SA_ONSTACK;
  }
  g_is_nested = std::strcmp(argv[1], "nested") == 0;
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGUSR2, &action, nullptr);
  raise(SIGUSR1);
  call(function("afterwards"));
  call(g_function);
  return tasks() == 2 ? 0 : 6;
}
