// A process that closes every descriptor while its functions are traced, as daemons do, and opens files of
// its own under all of their numbers. Prints how many of those are not its own files any more when the
// tracing has stopped.
#include <jitquill/jitquill.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kNumbers = 1024;  // none of ours is higher

void check(bool is_so) {
  if (!is_so) std::exit(4);
}

void call(std::uint64_t id) {
  for (int i = 0; i < 1000; ++i)
    check(jitquill_enter(id, 1) == JITQUILL_OK && jitquill_leave(id, 1) == JITQUILL_OK);
}

bool is(const struct stat& own, int number) {
  struct stat found {};
  return ::fstat(number, &found) == 0 && found.st_dev == own.st_dev && found.st_ino == own.st_ino;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const jitquill_function_info info = {sizeof info, 1, "f", "/src/program.lang"};
  std::uint64_t id = 0;
  check(jitquill_function(&info, &id) == JITQUILL_OK && id != 0);
  call(id);
  const int own = ::open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat status {};
  check(::fstat(own, &status) == 0);
  const int first = ::dup2(own, 3);
  check(first == 3);
  for (int number = first + 1; number < kNumbers; ++number) check(::dup2(first, number) == number);
  call(id);
  check(jitquill_stop() == JITQUILL_OK);
  int others = 0;
  for (int number = first; number < kNumbers; ++number) others += is(status, number) ? 0 : 1;
  check(::fstat(first, &status) == 0);
  std::printf("%d descriptors are others, %lld bytes were written\n", others,
              static_cast<long long>(status.st_size));
  return 0;
}
