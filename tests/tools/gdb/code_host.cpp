// A runtime for gdb to look at: announces functions that call each other, and changes them while they run.
//
//   code_host COUNT          then takes steps, each of which ends in host_step()
//   code_host COUNT wait     then sleeps in host_reached(), under its functions, until it is killed
//   code_host COUNT fork     the same in a child, which withdraws jit_1 and announces jit_child before
//
// jit_0 calls jit_1, that calls jit_2, which calls host_reached(). The others are there to be many.
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "jitquill/jitquill.h"

namespace {

constexpr std::size_t kSpacing = 64;
constexpr int kStride = 7;  // functions are announced in leaps: so objects lie between each other
constexpr char kSource[] = "/nowhere/host.src";

// push rbx | mov rax, callee | call rax | pop rbx | ret
constexpr unsigned char kBody[] = {0x53, 0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xD0, 0x5B, 0xC3};
constexpr std::size_t kCalleeAt = 3;
constexpr jitquill_frame_event kFrame[] = {{1, JITQUILL_FRAME_PUSH, 3, 0, 0},
                                           {14, JITQUILL_FRAME_POP, 3, 0, 0}};

unsigned char* g_memory;
bool g_waits = false;

unsigned char* place(int index) {
  return g_memory + static_cast<std::size_t>(index) * kSpacing;
}

void write_code(unsigned char* at, const void* callee) {
  std::memcpy(at, kBody, sizeof kBody);
  std::memcpy(at + kCalleeAt, &callee, sizeof callee);
}

void call(unsigned char* code) {
  reinterpret_cast<void (*)()>(code)();
}

// The call is in line 10 * block + 1.
void announce(unsigned char* at, const char* name, std::uint32_t block) {
  const jitquill_line lines[] = {{0, block * 10, 0, 0, nullptr},
                                 {1, block * 10 + 1, 0, 0, nullptr},
                                 {13, block * 10 + 2, 0, 0, nullptr}};
  jitquill_code code{};
  code.struct_size = sizeof code;
  code.addr = at;
  code.size = sizeof kBody;
  code.name = name;
  code.file = kSource;
  code.lines = lines;
  code.line_count = 3;
  code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  code.frame = kFrame;
  code.frame_count = 2;
  code.flags = JITQUILL_CODE_MAY_MOVE;
  (void)jitquill_code_loaded(&code, nullptr);
}

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" {
[[gnu::noinline]] void host_reached() {
  asm volatile("" ::: "memory");
  while (g_waits) sleep(1);
}
[[gnu::noinline]] void host_step(const void* code) {
  asm volatile("" ::"r"(code) : "memory");
}
}

namespace {

void announce_all(int count) {
  for (int i = 0; i < count; ++i)
    write_code(place(i), i < 2 ? static_cast<void*>(place(i + 1)) : reinterpret_cast<void*>(&host_reached));
  const double start = now_s();
  for (int leap = 0; leap < kStride; ++leap) {
    for (int i = leap; i < count; i += kStride)
      announce(place(i), ("jit_" + std::to_string(i)).c_str(), static_cast<std::uint32_t>(i + 1));
  }
  std::printf("announced %d in %.3f s\n", count, now_s() - start);
}

void take_steps(int count) {
  call(place(0));
  host_step(place(1));  // all are there
  jitquill_code_unloaded(place(1));
  host_step(place(1));  // jit_1 is gone
  write_code(place(count), reinterpret_cast<void*>(&host_reached));
  jitquill_code_moved(place(2), place(count), 0);
  host_step(place(2));  // jit_2 is gone from here
  call(place(count));
  write_code(place(0), reinterpret_cast<void*>(&host_reached));
  announce(place(0), "jit_newer", 1);
  call(place(0));
  const double start = now_s();
  for (int i = 3; i < count; ++i) jitquill_code_unloaded(place(i));
  std::printf("withdrew %d in %.3f s\n", count - 3, now_s() - start);
  host_step(place(3));  // jit_newer and jit_2 are left
}

int wait_in_child(int count) {
  const pid_t child = fork();
  if (child != 0) {
    std::printf("child %d\n", static_cast<int>(child));
    std::fflush(stdout);
    return waitpid(child, nullptr, 0) == child ? 0 : 1;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
  jitquill_code_unloaded(place(1));
  write_code(place(count), place(2));
  announce(place(count), "jit_child", 1);
  g_waits = true;
  call(place(count));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::string mode = argc > 2 ? argv[2] : "";
  void* const block = mmap(nullptr, static_cast<std::size_t>(count + 1) * kSpacing,
                           PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED || count < 4) return 1;
  g_memory = static_cast<unsigned char*>(block);
  announce_all(count);
  std::fflush(stdout);
  if (mode == "fork") return wait_in_child(count);
  if (mode == "wait") {
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    std::printf("child %d\n", static_cast<int>(getpid()));
    std::fflush(stdout);
    g_waits = true;
    call(place(0));
  }
  take_steps(count);
  return 0;
}
