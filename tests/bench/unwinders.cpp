// What 100,000 registered functions cost a host that throws: a throw that passes no jitted frame, and one
// that passes one, against the same with a single function registered. And what registering one costs.
#include <cstdio>
#include <cstdlib>

#include "tests/bench/paired.hpp"
#include "tests/host/unwinders/chain_code.hpp"

namespace {

using namespace jitquill::test;

constexpr int kThrows = 2'000;  // a run
constexpr int kPairs = 21;
constexpr std::size_t kFunctions = 100'000;
constexpr std::size_t kSpacing = 128;

void throw_1(void**) {
  throw 1;
}

[[gnu::noinline]] void throw_natively() {
  throw_1(nullptr);
}

template <class Thrower>
void throw_often(Thrower thrower) {
  for (int i = 0; i < kThrows; ++i) {
    try {
      thrower();
    } catch (int) {
      continue;
    }
    std::exit(1);
  }
}

double throw_seconds(const std::vector<void*>& chain) {
  return jitquill::bench::seconds_of([&] { throw_often([&] { run(chain, &throw_1); }); });
}

void print_throw(const char* what, double one_s, double many_s) {
  std::printf("%s: %.2f us, %.2f us with %zu functions, ratio %.2f (target 2.00)\n", what,
              one_s / kThrows * 1e6, many_s / kThrows * 1e6, kFunctions, many_s / one_s);
}

struct Medians {
  double native_s, through_s;
};

Medians measure(void* entry) {
  const std::vector<void*> chain = {entry};
  std::vector<double> native, through;
  throw_often(throw_natively);
  (void)throw_seconds(chain);  // the first sorts what was registered
  for (int i = 0; i < kPairs; ++i) {
    native.push_back(jitquill::bench::seconds_of([] { throw_often(throw_natively); }));
    through.push_back(throw_seconds(chain));
  }
  return {jitquill::bench::median_of(native), jitquill::bench::median_of(through)};
}

void register_all(CodeArena& arena, std::size_t first) {
  for (std::size_t i = first; i < kFunctions; ++i) place(arena, i * kSpacing, 32);
}

}  // namespace

int main() {
  const jitquill_start_options options{sizeof options, "formats=none"};
  (void)jitquill_start(&options);
  CodeArena arena(kFunctions * kSpacing);
  void* const entry = place(arena, 0, 32);
  const Medians one = measure(entry);
  const double all_s = jitquill::bench::seconds_of([&] { register_all(arena, 1); });
  std::printf("register: %.2f us a function, %llu sections for %zu functions\n",
              all_s / static_cast<double>(kFunctions) * 1e6, static_cast<unsigned long long>(open_sections()),
              kFunctions);
  const double first_s = jitquill::bench::seconds_of([&] {
    try {
      run({entry}, &throw_1);
    } catch (int) {
    }
  });
  std::printf("first throw after that: %.2f ms\n", first_s * 1e3);
  const Medians many = measure(arena.at((kFunctions / 2) * kSpacing));
  print_throw("throw through no jitted frame", one.native_s, many.native_s);
  print_throw("throw through one", one.through_s, many.through_s);
  // libgcc sorts a section again when it is first searched after a change.
  constexpr int kChanges = 200;
  const double changes_s = jitquill::bench::seconds_of([&] {
    for (int i = 0; i < kChanges; ++i) {
      jitquill_code_unloaded(entry);
      place(arena, 0, 32);
      try {
        run({entry}, &throw_1);
      } catch (int) {
      }
    }
  });
  std::printf("change of a full section and a throw through it: %.2f us\n", changes_s / kChanges * 1e6);
  for (std::size_t i = 0; i < kFunctions; ++i) jitquill_code_unloaded(arena.at(i * kSpacing));
  return 0;
}
