// Announces functions and leaves. Arguments: how.
//   _exit _Exit   from main, with text that nobody flushed
//   quick_exit    with three handlers, of which one announces function 5
//   abort         from main
//   handler       a timer's handler calls _exit while main announces
//   thread        a thread calls _exit while main announces
//   main_ends     main leaves by pthread_exit, a thread announces 5 to 7 and ends
//   return        from main, after quick_exit's handlers were set up
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/host/leave/jit.hpp"

namespace {

constexpr int kStatus = 7;

Jit* jit;

void say(const char* text) {
  std::printf("%s\n", text);
  std::fflush(stdout);
}

void say_first() {
  say("first");
}
void announce_late() {
  say(jit->announce(5) ? "second" : "second failed");
}
void say_third() {
  say("third");
}

void register_handlers() {
  std::at_quick_exit(say_third);
  std::at_quick_exit(announce_late);
  std::at_quick_exit(say_first);
}

std::atomic<std::uint32_t> announced{0};

// Not before there is something to be lost, however busy the machine is.
void leave_in_handler(int) {
  if (announced.load() >= 100) _exit(kStatus);
}

void start_timer() {
  struct sigaction action = {};
  action.sa_handler = leave_in_handler;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval soon = {{0, 5'000}, {0, 20'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
}

[[noreturn]] void announce_for_ever() {
  for (std::uint32_t i = 0;; ++i) {
    if (!jit->announce(i)) std::abort();
    announced.store(i + 1);
  }
}

void leave_from_thread() {
  std::thread([] {
    while (announced.load() < 100) std::this_thread::yield();
    usleep(5'000);
    _exit(kStatus);
  }).detach();
}

[[noreturn]] void end_main() {
  static std::atomic<bool> is_ending{false};
  static pthread_t main_thread;
  main_thread = pthread_self();
  std::thread([] {
    while (!is_ending.load()) std::this_thread::yield();
    pthread_join(main_thread, nullptr);
    say(jit->announce(5, 8) ? "went on" : "did not go on");
  }).detach();
  is_ending.store(true);
  pthread_exit(nullptr);
}

int leave(const std::string& how) {
  if (how == "_exit") _exit(kStatus);
  if (how == "_Exit") std::_Exit(kStatus);
  if (how == "abort") std::abort();
  if (how == "main_ends") end_main();
  register_handlers();
  if (how == "quick_exit") std::quick_exit(kStatus);
  return how == "return" ? kStatus : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  static Jit the_jit;
  jit = &the_jit;
  const std::string how = argv[1];
  if (how == "handler") start_timer();
  if (how == "thread") leave_from_thread();
  if (how == "handler" || how == "thread") announce_for_ever();
  if (!jit->announce(0, 5)) return 3;
  std::printf("not flushed");
  return leave(how);
}
