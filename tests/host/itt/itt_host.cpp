// A runtime that tells ITT's collector of code. What it reports: the first argument.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/host/itt/emitter.hpp"
#include "tests/host/jitdump/code_memory.hpp"
#include "tests/unit/agent/itt_report.hpp"

namespace {

using itt_spelled::kInlined;
using itt_spelled::kV1;
using itt_spelled::kV2;
using itt_spelled::kV3;
using itt_spelled::Structure;
using itt_spelled::Version;

constexpr unsigned kShutdown = 2;
constexpr unsigned kUnload = 14;
constexpr unsigned kUpdate = 15;
constexpr unsigned kUpdatePlace = 17;
constexpr std::uint32_t kSize = 48;

std::uint32_t below(std::mt19937& random, std::uint32_t most) {
  return static_cast<std::uint32_t>(random() % most);
}

void fill(std::uint8_t* at, std::uint8_t with) {
  std::memset(at, with, kSize);
}

void report(const Emitter& emitter, const Version& version, const itt_spelled::Method& method) {
  Structure structure = method.as(version);
  if (emitter.notify(version.event, structure.bytes.data()) != 1) std::abort();
}

// One of each version; a method of two regions; one that ends, one with new content.
void report_all(const Emitter& emitter, const CodeMemory& memory) {
  for (std::uint8_t i = 0; i < 8; ++i) fill(memory.at(i), static_cast<std::uint8_t>(0x10 + i));
  report(emitter, kV1, {1, 0, "one", memory.at(0), kSize, {{8, 3}, {kSize, 4}}, "Class", "one.src"});
  report(emitter, kV2, {2, 0, "two", memory.at(1), kSize, {}, nullptr, nullptr});
  report(emitter, kV3, {3, 0, "three", memory.at(2), kSize, {{40, 7}}, "", "three.src"});
  report(emitter, kV2, {2, 0, "not two", memory.at(3), kSize, {}, "Other", nullptr});
  report(emitter, kV2, {0, 0, "nobody", memory.at(4), kSize, {}, nullptr, nullptr});
  report(emitter, kV2, {5, 0, "later", nullptr, 0, {}, nullptr, nullptr});
  report(emitter, kV2, {5, 0, "not later", memory.at(5), kSize, {}, nullptr, nullptr});

  std::uint32_t two = 2;
  emitter.notify(kUnload, &two);
  fill(memory.at(0), 0x77);
  Structure update;
  update.put(0, 1u).put(16, memory.at(0)).put(24, kSize);
  emitter.notify(kUpdate, update.bytes.data());
  fill(memory.at(2), 0x78);
  Structure place;
  place.put(0, memory.at(2) + 16).put(8, 4u).put(12, 1u);
  emitter.notify(kUpdatePlace, place.bytes.data());
  emitter.notify(kShutdown, nullptr);
}

void report_inlined(const Emitter& emitter, const CodeMemory& memory, bool shuts_down) {
  for (std::uint32_t i = 0; i < 3; ++i) {
    fill(memory.at(i), static_cast<std::uint8_t>(i));
    const std::uint32_t id = 10 * (i + 1);
    report(emitter, kV2, {id, 0, "outer", memory.at(i), kSize, {{kSize, 1}}, nullptr, "outer.src"});
    report(emitter, kInlined, {id + 1, id, "inner", memory.at(i) + 8, 16, {{16, 2}}, nullptr, "inner.src"});
    report(emitter, kInlined, {id + 2, id + 1, "innermost", memory.at(i) + 12, 4, {}, nullptr, nullptr});
  }
  if (shuts_down) emitter.notify(kShutdown, nullptr);
}

// Reports in which anything may be wrong, and a sound one at the end.
void report_broken(const Emitter& emitter, const CodeMemory& memory) {
  std::mt19937 random(42);
  const unsigned events[] = {13, kUnload, kUpdate, 16, kUpdatePlace, 21, 22};
  for (int round = 0; round < 20'000; ++round) {
    const itt_spelled::Method method{
        below(random, 8) + 1, below(random, 8), "name", memory.at(below(random, 64)), kSize,
        {{8, 3}, {kSize, 4}}, "Class",          "file"};
    Structure structure = method.as(below(random, 2) == 0 ? kV1 : kInlined);
    for (unsigned i = below(random, 5); i > 0; --i)
      structure.bytes[below(random, 72)] = static_cast<std::uint8_t>(below(random, 256));
    if (below(random, 4) == 0) structure.put(8 * (below(random, 9)), std::uint64_t{below(random, 4096)});
    emitter.notify(events[below(random, 7)], structure.bytes.data());
  }
  emitter.notify(13, nullptr);
  emitter.notify(13, reinterpret_cast<void*>(16));
  emitter.notify(99, nullptr);
  fill(memory.at(64), 0x42);
  report(emitter, kV2, {1000, 0, "sound", memory.at(64), kSize, {}, nullptr, nullptr});
}

void report_from_threads(const Emitter& emitter, const CodeMemory& memory) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kEach = 500;
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        const std::uint32_t number = thread * kEach + i;
        fill(memory.at(number), static_cast<std::uint8_t>(number));
        const std::string name = "fn_" + std::to_string(number);
        report(emitter, kV2, {number + 1, 0, name.c_str(), memory.at(number), kSize, {}, nullptr, nullptr});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string what = argv[1];
  const Emitter emitter;
  const CodeMemory memory(what == "threads" ? 2'000 : 100);
  if (what == "mode") return static_cast<int>(emitter.mode());
  if (!emitter.is_loaded()) return 3;
  if (what == "all") report_all(emitter, memory);
  if (what == "inlined") report_inlined(emitter, memory, true);
  if (what == "inlined_and_exit") report_inlined(emitter, memory, false);
  if (what == "broken") report_broken(emitter, memory);
  if (what == "threads") report_from_threads(emitter, memory);
  return 0;
}
