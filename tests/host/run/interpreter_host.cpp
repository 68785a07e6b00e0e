// An interpreter whose frames have no native stack of their own: one loop, frames told apart by their keys.
// Arguments: rounds, threads. Each round of each thread is
//
//   main            key 1
//     f             key 2    three times, each with a g of key 3 in it
//     f             key 2    its g is left by an error: only f's end is told
//     main          key 1 + 2^28 - 1, a recursion whose key differs in its highest bits
#include <jitquill/events.h>

#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

std::uint64_t function(const char* name, std::uint32_t line) {
  const jitquill_function_info info = {sizeof info, line, name, "/src/program.lang"};
  std::uint64_t id = 0;
  if (jitquill_function(&info, &id) != JITQUILL_OK || id == 0) std::exit(3);
  return id;
}

struct Program {
  std::uint64_t main, f, g;
};

void check(jitquill_status status) {
  if (status != JITQUILL_OK) std::exit(4);
}

void run_round(const Program& program) {
  check(jitquill_enter(program.main, 1));
  for (int i = 0; i < 4; ++i) {
    check(jitquill_enter(program.f, 2));
    check(jitquill_enter(program.g, 3));
    if (i < 3) check(jitquill_leave(program.g, 3));
    check(jitquill_leave(program.f, 2));
  }
  check(jitquill_enter(program.main, 0xFFFFFFF));
  check(jitquill_leave(program.main, 0xFFFFFFF));
  check(jitquill_leave(program.main, 1));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long rounds = std::strtol(argv[1], nullptr, 10);
  const Program program = {function("main", 1), function("f", 10), function("g", 20)};
  std::vector<std::thread> threads;
  for (long i = std::strtol(argv[2], nullptr, 10); i > 0; --i) {
    threads.emplace_back([&] {
      for (long round = 0; round < rounds; ++round) run_round(program);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::uint8_t payload[20] = {1, 2, 3};
  check(jitquill_post(JITQUILL_OWN_EVENTS + 7, payload, sizeof payload));
  return 0;
}
