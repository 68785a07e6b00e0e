// Runs a nib program on several threads at once. Arguments: what, its size, rounds, threads, and of the code
// `first` or `second` for one tier, or the calls until the second.
//
//   deep    main calls down, which calls itself `size` times
//   tail    main calls sum, which calls itself `size` times in the place of a return; a stack of 512 KiB
//   throw   print, at the bottom of `size` calls of down, throws; the thread ends behind the last round
//   jump    each print of main calls the program of `throw`, whose print jumps back by longjmp
#include <pthread.h>
#include <setjmp.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "nib/executable.hpp"
#include "nib/runtime.hpp"

namespace {

constexpr std::size_t kSmallStack = std::size_t{512} << 10;
constexpr std::size_t kUsualStack = std::size_t{16} << 20;

struct Thrown {};

std::string down(const std::string& size, const char* at_bottom) {
  return "fn down(n: int) -> int {\n  if n == 0 { " + std::string(at_bottom) +
         " return 0; }\n  let below = down(n - 1);\n  return below + 1;\n}\nfn main() { let n = down(" +
         size + "); }\n";
}

std::string program(const char* what, const std::string& size) {
  if (std::strcmp(what, "deep") == 0) return down(size, "");
  if (std::strcmp(what, "tail") == 0)
    return "fn sum(n: int, so_far: int) -> int {\n  if n == 0 { return so_far; }\n"
           "  return sum(n - 1, so_far + n);\n}\nfn main() { print(sum(" +
           size + ", 0)); }\n";
  return down(size, "print(n);");
}

nib::CompileOptions options;

void choose_tiers(const std::string& text) {
  if (text == "first") {
    options.tiers = nib::Tiers::kFirst;
  } else if (text == "second") {
    options.tiers = nib::Tiers::kSecond;
  } else {
    options.hot = std::atoi(text.c_str());
  }
}

std::unique_ptr<nib::Executable> compiled(const nib::Source& source) {
  nib::Diagnostics diagnostics;
  auto executable = nib::compile(source, diagnostics, options);
  for (const nib::Diagnostic& each : diagnostics.sorted())
    std::printf("%s\n", nib::to_line(source, each).c_str());
  if (executable == nullptr) std::exit(2);
  return executable;
}

struct Job {
  const char* what;
  nib::Executable::Main main, inner;
  long rounds;
  long done = 0;
};

thread_local jmp_buf back;

// Only frames without destructors are jumped over.
[[gnu::noinline]] void jump_back_from(nib::Executable::Main inner) {
  if (setjmp(back) == 0) inner();
}

void run_round(Job& job) {
  const bool throws = std::strcmp(job.what, "throw") == 0, jumps = std::strcmp(job.what, "jump") == 0;
  const auto print = [&](std::string_view line) {
    if (throws) throw Thrown{};
    if (jumps && line == "0\n") longjmp(back, 1);
    if (jumps) jump_back_from(job.inner);
  };
  try {
    const nib::RunResult result = nib::run(job.main, print);
    job.done += result.error ? 0 : 1;
  } catch (const Thrown&) {
    ++job.done;
  }
}

void* run_job(void* argument) {
  Job& job = *static_cast<Job*>(argument);
  for (long i = 0; i < job.rounds; ++i) run_round(job);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  choose_tiers(argv[5]);
  const char* const what = argv[1];
  const bool jumps = std::strcmp(what, "jump") == 0;
  const nib::Source inner_source{"inner.nib", "/inner.nib", program(what, argv[2])};
  const nib::Source outer_source{"outer.nib", "/outer.nib",
                                 "fn outer() { print(7); print(8); } fn main() { outer(); }"};
  const auto inner = compiled(inner_source);
  const auto outer = jumps ? compiled(outer_source) : nullptr;
  const auto main = jumps ? outer->main() : inner->main();
  std::vector<Job> jobs(std::strtoul(argv[4], nullptr, 10), {what, main, inner->main(), std::atol(argv[3])});
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::strcmp(what, "tail") == 0 ? kSmallStack : kUsualStack);
  std::vector<pthread_t> threads;
  for (Job& job : jobs) {
    threads.emplace_back();
    if (pthread_create(&threads.back(), &attributes, run_job, &job) != 0) return 3;
  }
  for (const pthread_t thread : threads) pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  for (const Job& job : jobs)
    if (job.done != job.rounds) return 4;
  return 0;
}
