// A process whose files may not grow any more: what is written at its end would be a signal that ends it.
// Arguments: how many bytes a file may have from then on; `from_start`: already when the outputs are begun.
#include <jitquill/jitquill.h>

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>

namespace {

std::uint64_t function(const char* name) {
  const jitquill_function_info info = {sizeof info, 1, name, "/src/program.lang"};
  std::uint64_t id = 0;
  if (jitquill_function(&info, &id) != JITQUILL_OK || id == 0) std::exit(3);
  return id;
}

void call(std::uint64_t id, int times) {
  for (int i = 0; i < times; ++i) {
    if (jitquill_enter(id, 1) != JITQUILL_OK || jitquill_leave(id, 1) != JITQUILL_OK) std::exit(4);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (argc == 2) call(function("before"), 100);
  const rlimit limit = {std::strtoul(argv[1], nullptr, 10), RLIM_INFINITY};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 5;
  if (argc == 2) call(function("behind"), 1000);
  if (argc != 2) (void)jitquill_start(nullptr);
  return 0;
}
