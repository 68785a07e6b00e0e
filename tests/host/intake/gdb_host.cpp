// A program with a GDB JIT interface of its own, that makes code as real JITs do. Argument: what it does,
// below.
//
// For each function that is to be in the dump it prints one line, when its code is final:
//   expect <name> <address> <code in hex>
// It runs alike without us.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/intake/jit.hpp"

namespace {

using test_support::Symfile;

// Final when it is registered, as ORC's, PHP's and Erlang's.
void at_once(Jit& jit) {
  for (int i = 0; i < 50; ++i) {
    const Code code = jit.make("at_once_" + std::to_string(i));
    code.expect();
    jit.add(code.symfile());
  }
}

// As MCJIT: registered as the compiler made it, then relocated, then its frames registered.
void frames_later(Jit& jit) {
  for (int i = 0; i < 5; ++i) {
    Code code = jit.make("frames_later_" + std::to_string(i));
    jit.add(code.unrelocated_symfile());
    code.relocate();
    code.expect();
    jit.register_frames(code);
  }
}

void protected_later(Jit& jit) {
  Code code = jit.make("protected_later");
  jit.add(code.unrelocated_symfile());
  code.relocate();
  code.expect();
  jit.protect();
}

// Two modules that wait for each other: both are registered before either is relocated.
void two_wait(Jit& jit) {
  Code one = jit.make("two_wait_1");
  Code other = jit.make("two_wait_2");
  jit.add(one.unrelocated_symfile());
  jit.add(other.unrelocated_symfile());
  other.relocate();
  one.relocate();
  one.expect();
  other.expect();
  jit.protect();
}

// Nothing says that it is final but the end.
void never_protected(Jit& jit) {
  Code code = jit.make("never_protected");
  jit.add(code.unrelocated_symfile());
  code.relocate();
  code.expect();
}

void taken_back(Jit& jit) {
  for (int i = 0; i < 10; ++i) {
    const Code code = jit.make("taken_back_" + std::to_string(i));
    code.expect();
    const std::size_t entry = jit.add(code.symfile());
    jit.remove(entry);
    jit.reuse_memory();  // the next lies at the same address
  }
}

// More than a look reads, and of those some are taken back wherever they are, each before the next look.
void many_come_and_go(Jit& jit) {
  std::vector<std::size_t> entries;
  for (int i = 0; i < 100; ++i) {
    const Code code = jit.make("come_and_go_" + std::to_string(i));
    code.expect();
    entries.push_back(jit.add(code.symfile()));
    if (i % 10 == 0) jit.protect();
  }
  jit.protect();
  for (const std::size_t which : {99u, 50u, 51u, 0u, 98u}) {
    jit.remove(entries[which]);
    jit.protect();
  }
}

// What is registered is not to be trusted.
void hostile(Jit& jit) {
  jit.add_raw(reinterpret_cast<const void*>(8), 100);  // unreadable
  jit.add_raw(&jit, ~std::uint64_t{0});                // as large as can be
  jit.add_raw("no ELF file", 11);
  jit.add_raw(
      "\x7f"
      "ELF",
      4);
  Symfile far;
  far.sections.push_back({".text", 0x10, std::vector<std::uint8_t>(64)});  // nothing lies there
  far.symbols = {{"far", 0, 64, 0}};
  jit.add(far.build());
  jit.point_to_nothing();
  const Code code = jit.make("after_all");
  code.expect();
  jit.add(code.symfile());
}

// A list that goes in a circle, and a buffer that poses as a function.
void arena(Jit& jit) {
  Symfile file;
  file.type = ET_EXEC;
  file.sections.push_back({".text", jit.address(), {}, SHF_ALLOC | SHF_EXECINSTR, 128u << 20});
  file.symbols = {{"code_gen_buffer", jit.address(), 128u << 20, 0}};
  jit.add(file.build());
  const Code code = jit.make("inside");
  code.expect();
  jit.add(code.symfile());
}

// It writes a dump by itself, as lli does: ours would only double it.
void own_dump(Jit& jit) {
  const Code before = jit.make("before_own_dump");
  before.expect();
  jit.add(before.symfile());
  const Code code = jit.make("own_dump");
  const std::string path = "jit-" + std::to_string(getpid()) + ".dump";
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, 4096) != 0) _exit(3);
  if (mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) _exit(3);
  unlink(path.c_str());
  code.expect();
  jit.add(code.symfile());
}

// The registered unwinding tables reach the dump.
void frames_first(Jit& jit) {
  const Code code = jit.make("frames_first");
  jit.register_frames(code);
  code.expect();
  jit.add(code.symfile());
  jit.take_frames_back(code);
}

// A module's frames are one section, of which only its own part is within reach when a function is told.
void frames_of_many(Jit& jit) {
  const Code code = jit.make("frames_of_many");
  jit.register_frames_far_behind_others(code);
  code.expect();
  jit.add(code.symfile());
}

// Another section in the place of one that was taken back, of another function in the place of its own.
void frames_rewritten(Jit& jit) {
  for (std::size_t i = 0; i < 3; ++i) {
    const Code code = jit.make("frames_rewritten_" + std::to_string(i));
    jit.register_frames_behind(code, 2 - i);
    code.expect();
    const std::size_t entry = jit.add(code.symfile());
    jit.take_section_back();
    jit.remove(entry);
    jit.reuse_memory();
  }
}

// Known by its frames only: while it lives, and until it ends.
void nameless(Jit& jit) {
  for (int i = 0; i < 10; ++i) {
    const Code code = jit.make("nameless_" + std::to_string(i));
    code.expect();
    jit.register_frames(code);
    if (i < 5) continue;
    jit.take_frames_back(code);
    jit.reuse_memory();  // the next lies at the same address
  }
}

void nameless_and_gone(Jit& jit) {
  nameless(jit);
  std::puts("done");
  std::fflush(stdout);
  _exit(7);
}

// The name comes when the frames are gone already; and the other way round.
void named_late(Jit& jit) {
  const Code code = jit.make("named_late");
  jit.register_frames(code);
  jit.take_frames_back(code);
  code.expect();
  jit.add(code.symfile());
  jit.register_frames(code);
  jit.take_frames_back(code);
}

// Frames of code that the program has in its file, as a runtime without a loader registers them.
void framed_file(Jit& jit) {
  const Code code = jit.make("framed_file");
  code.expect();
  jit.register_frames(code);
  jit.register_frames_of(code, reinterpret_cast<std::uint64_t>(&framed_file));
}

template <class Deed>
void in_a_child(Deed deed) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    deed();
    std::exit(0);
  }
  (void)waitpid(child, nullptr, 0);
}

// Functions that wait for a name when it forks, and one that waits no more: the child makes none itself.
void forked(Jit& jit) {
  constexpr useconds_t kWait = 110'000;
  const Code told = jit.make("forked_told");
  const Code waiting = jit.make("forked_waiting");
  const Code other = jit.make("forked_other");
  for (const Code& code : {told, waiting, other}) code.expect();
  jit.register_frames(told);
  usleep(kWait);
  jit.protect();
  jit.register_frames(waiting);
  jit.register_frames(other);
  in_a_child([&] {
    jit.take_frames_back(told);
    jit.take_frames_back(waiting);
    usleep(kWait);
    jit.protect();
  });
}

// The same of a symbol file whose code is not final yet.
void forked_symfile(Jit& jit) {
  Code code = jit.make("forked_symfile");
  Code other = jit.make("forked_other");
  const std::size_t entry = jit.add(code.unrelocated_symfile());
  jit.add(other.unrelocated_symfile());
  std::fclose(std::fopen("/dev/null", "r"));  // where the list is read, it is known from here on
  in_a_child([&] {
    code.relocate();
    jit.protect();
    jit.remove(entry);
  });
  in_a_child([] {});
  for (Code* const one : {&code, &other}) {
    one->relocate();
    one->expect();
  }
  jit.protect();
}

// Several threads that jit, under the JIT's lock, beside one that makes memory executable all the time.
void threads(Jit& jit) {
  std::mutex lock;
  std::atomic<bool> is_done{false};
  std::thread other([&] {
    while (!is_done.load()) jit.protect();
  });
  std::vector<std::thread> all;
  for (int thread = 0; thread < 4; ++thread) {
    all.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        const std::lock_guard held(lock);
        Code code = jit.make("thread_" + std::to_string(thread) + "_" + std::to_string(i));
        jit.add(code.symfile());
      }
    });
  }
  for (std::thread& one : all) one.join();
  is_done.store(true);
  other.join();
  jit.expect_all();
}

const std::map<std::string, std::function<void(Jit&)>> kDeeds = {{"at_once", at_once},
                                                                 {"frames_later", frames_later},
                                                                 {"protected_later", protected_later},
                                                                 {"two_wait", two_wait},
                                                                 {"never_protected", never_protected},
                                                                 {"taken_back", taken_back},
                                                                 {"many_come_and_go", many_come_and_go},
                                                                 {"hostile", hostile},
                                                                 {"arena", arena},
                                                                 {"own_dump", own_dump},
                                                                 {"frames_first", frames_first},
                                                                 {"frames_of_many", frames_of_many},
                                                                 {"frames_rewritten", frames_rewritten},
                                                                 {"nameless", nameless},
                                                                 {"nameless_and_gone", nameless_and_gone},
                                                                 {"named_late", named_late},
                                                                 {"framed_file", framed_file},
                                                                 {"forked", forked},
                                                                 {"forked_symfile", forked_symfile},
                                                                 {"threads", threads}};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || kDeeds.count(argv[1]) == 0) return 2;
  Jit& jit = *new Jit;  // what it registered outlives main, as debuggers expect
  kDeeds.at(argv[1])(jit);
  jit.run_all();
  std::puts("done");
  return 7;
}
