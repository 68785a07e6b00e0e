// Many threads that live for a few calls. Arguments: what, threads.
//
//   short        each calls f(g)
//   destructors  each calls f; then a thread_local object's destructor calls g, and a key's destructor, which
//                sets its value again until it may not, calls h each time
#include <limits.h>
#include <pthread.h>

#include <cstring>
#include <thread>
#include <vector>

#include "tests/host/run/traced_code.hpp"

namespace {

constexpr unsigned kAtOnce = 8;
enum : unsigned { kF, kG, kH };

const TracedCode* code;
pthread_key_t key;

struct CallsAtEnd {
  ~CallsAtEnd() { code->call(kG); }
  bool is_used = false;
};
thread_local CallsAtEnd at_end;

void call_again(void* value) {
  code->call(kH);
  pthread_setspecific(key, value);
}

std::uint64_t call_g(void*) {
  return code->call(kG);
}

void run_short() {
  code->call(kF, call_g);
}

void run_destructors() {
  at_end.is_used = true;
  pthread_setspecific(key, &at_end);
  code->call(kF);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const bool is_short = std::strcmp(argv[1], "short") == 0;
  const TracedCode traced;
  traced.load({"f", "g", "h"});
  code = &traced;
  if (pthread_key_create(&key, call_again) != 0) return 3;
  for (long left = std::strtol(argv[2], nullptr, 10); left > 0; left -= kAtOnce) {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kAtOnce; ++i) threads.emplace_back(is_short ? run_short : run_destructors);
    for (std::thread& thread : threads) thread.join();
  }
  return 0;
}
