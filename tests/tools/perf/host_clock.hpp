// Stamps that a host prints for its driver, and how long it runs.
//
// Context   host programs of the perf tests.
#pragma once

#include <sys/mman.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace perf_hosts {

inline std::uint64_t clock_ns(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// Between two looks at the clock, which is a system call: the time between the stamps is to be that of the
// work.
inline constexpr int kCallsPerLook = 500;

// Calls `work` until the process has used that much more CPU time, in which perf takes a known number of
// samples however busy the machine is. Prints "stamps <what> <start> <end>", CLOCK_MONOTONIC in nanoseconds.
template <class Work>
void run_for(const char* what, std::uint64_t milliseconds, Work work) {
  const std::uint64_t end_cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + milliseconds * 1'000'000;
  const std::uint64_t start = clock_ns(CLOCK_MONOTONIC);
  while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_cpu) {
    for (int i = 0; i < kCallsPerLook; ++i) work();
  }
  const std::uint64_t end = clock_ns(CLOCK_MONOTONIC);
  std::printf("stamps %s %llu %llu\n", what, static_cast<unsigned long long>(start),
              static_cast<unsigned long long>(end));
}

inline std::uint8_t* executable_memory(std::size_t size) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<std::uint8_t*>(memory);
}

// Prints "anonymous <start> <end>" for each executable mapping of no file; the vdso has its own symbols.
inline void print_anonymous_code() {
  std::FILE* maps = std::fopen("/proc/self/maps", "r");
  if (maps == nullptr) std::abort();
  char line[4096];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long long start = 0;
    unsigned long long end = 0;
    char access[8] = "";
    if (std::sscanf(line, "%llx-%llx %7s", &start, &end, access) != 3 || access[2] != 'x') continue;
    if (std::strchr(line, '/') != nullptr || std::strstr(line, "[v") != nullptr) continue;
    std::printf("anonymous %llx %llx\n", start, end);
  }
  std::fclose(maps);
}

}  // namespace perf_hosts
