// Everything that a runtime can tell stands in `calls`, at its place among the calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include "tests/host/run/run_files.hpp"

namespace {

using calls_reader::Thread;
using test_support::TempFolder;

// A round of the thread that leads, as runtime_host.c tells it. "|": main() and work() begin or end there.
const std::vector<std::string> kLeader = {
    "runtime: model runtime 1.0",
    "capability created: capability 0",
    "capability created: capability 1",
    "heap: generations 2, most 0 bytes, allocation_area 1048576 bytes, large_block 1048576 bytes, "
    "small_block "
    "4096 bytes",
    "capability taken: capability 0",
    "thread created: thread 1",
    "thread named: thread 1, main",
    "thread runs: thread 1",
    "| thread created: thread 2",
    "| | thread stops: thread 1, heap is full, info 0",
    "| | collection requested: by several threads",
    "| | collection begins: generation 1",
    "| | all stopped for collection",
    "| | collector: marks",
    "| | collector: sweeps",
    "| | collector: moves objects",
    "| | collector: is done with its part",
    "| | allocated: total 3000000 bytes",
    "| | collection statistics: generation 1, threads 2, copied 70000 bytes, slop 100 bytes, fragmentation "
    "2000 "
    "bytes, most_copied 40000 bytes, all_copied 70000 bytes, balanced_copied 60000 bytes",
    "| | heap size: size 4194304 bytes",
    "| | heap blocks: size 1048576 bytes",
    "| | heap live: size 70000 bytes",
    "| | heap returned: current 4 large blocks, needed 2 large blocks, returned 1 large blocks",
    "| | collection ends",
    "| | thread runs: thread 1",
    "| concurrent collection: marks",
    "| remembered set flushed",
    "| concurrent collection ends: marks, marked 500 objects",
    "| concurrent collection: all threads stand still for the last of it",
    "| concurrent collection ends: all threads stand still for the last of it, marked 0 objects",
    "| concurrent collection: sweeps",
    "| heap census: block_size 64 bytes, active_segments 3, filled_segments 2, live_blocks 700",
    "| segments pruned: pruned 4, kept 1",
    "| concurrent collection ends: sweeps, marked 0 objects",
    "| spark: created",
    "| spark: dud",
    "| spark: overflowed",
    "| spark thread created: thread 3",
    "| spark: run",
    "| spark stolen: victim 1",
    "| spark: fizzled",
    "| spark: collected",
    "| sparks: created 4 sparks, dud 1 sparks, overflowed 1 sparks, converted 2 sparks, collected 1 sparks, "
    "fizzled 1 sparks, remaining 0 sparks",
    "| counter named: counter 1, queue length",
    "| counter: counter 1, value -5",
    "| marker: half way",
    "| message: hello \xE2\x82\xAC",
    "| runtime message: two?lines",
    "| binary message: 3 bytes",
    "| allocation site: site 1, cons (list.lang:7)",
    "| allocated at site: site 1, objects 100 objects, size 2400 bytes",
    "| heap profile: allocation site, period 100000000 ns",
    "| heap sample: sample 0",
    "| heap site: site 1, size 2400 bytes",
    "| heap band: size 64 bytes, strings",
    "| heap sample ends: sample 0",
    "thread runnable: thread 3",
    "thread migrates: thread 3, capability 1",
    "thread woken: thread 3, capability 1",
    "thread stops: thread 1, waits for a value, info 3",
    "capability disabled: capability 1",
    "capability enabled: capability 1",
    "thread runs: thread 1",
    "thread finished: thread 1",
    "capability left: capability 0",
    "capability deleted: capability 1",
    "capability deleted: capability 0",
};

const std::vector<std::string> kOther = {
    "capability taken: capability 1",
    "thread runs: thread 2",
    "thread stops: thread 2, heap is full, info 0",
    "collection begins: generation 1",
    "collector: works",
    "collector: has nothing to do",
    "collector: is done with its part",
    "collection ends",
    "thread runs: thread 2",
    "thread finished: thread 2",
    "capability left: capability 1",
};

void run_runtime(const TempFolder& folder, const std::vector<std::string>& arguments,
                 const std::string& options, const std::string& prints = "") {
  test_support::Child child(with_agent(folder, RUNTIME_HOST, arguments, options));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(ended.out + ended.err, prints);
}

// As the lists above have them.
std::vector<std::string> told(const Thread& thread) {
  std::vector<std::string> all;
  for (const auto& event : thread.events) {
    std::string line;
    for (std::uint64_t i = 0; i < event.depth; ++i) line += "| ";
    all.push_back(line + event.words);
  }
  return all;
}

std::vector<std::string> repeated(const std::vector<std::string>& round, std::size_t rounds) {
  std::vector<std::string> all;
  for (; rounds > 0; --rounds) std::ranges::copy(round, std::back_inserter(all));
  return all;
}

// The leader is the only thread with calls.
void expect_rounds(const TempFolder& folder, std::size_t rounds, std::vector<std::string> leader) {
  const auto file = run_files::calls(folder);
  ASSERT_EQ(file.threads.size(), rounds + 1);
  for (const auto& [name, thread] : file.threads) {
    auto events = told(thread);
    if (thread.calls.empty()) {
      EXPECT_EQ(events, kOther) << name;
      continue;
    }
    EXPECT_EQ(thread.calls.size(), 2 * rounds);
    std::string euros;
    for (std::size_t i = 0; i < 1365; ++i) euros += "\xE2\x82\xAC";  // 4095 bytes
    auto expected = repeated(leader, rounds);
    expected.push_back("message: " + euros);
    expected.push_back("thread named: thread 1, " + euros.substr(0, 4086));  // 8 bytes are its id
    expected.push_back("message: " + euros);
    expected.push_back("message: ");
    expected.push_back("message: " + euros.substr(0, 6));
    expected.push_back("message: " + euros.substr(0, 3));
    expected.push_back("binary message: 4096 bytes");
    expected.push_back("event 1024, 5 bytes");
    EXPECT_EQ(events, expected);
  }
}

TEST(Runtime, ShowsWhatItToldWhereItToldIt) {
  const TempFolder folder;
  run_runtime(folder, {"3"}, "formats=calls,counts hooks=*");
  expect_rounds(folder, 3, kLeader);
  EXPECT_EQ(run_files::stats(folder).at("event_texts_cut"), 2u);
}

TEST(Runtime, TellsFromASignalHandler) {
  const TempFolder folder;
  run_runtime(folder, {"1", "handler"}, "formats=calls hooks=*");
  auto leader = kLeader;
  std::ranges::replace(leader, "| marker: half way", "| marker: in a handler");
  expect_rounds(folder, 1, leader);
}

TEST(Runtime, LosesNothingWithLittleMemory) {
  const TempFolder folder;
  run_runtime(folder, {"50"}, "formats=calls hooks=* memory=1300k");
  expect_rounds(folder, 50, kLeader);
}

// They are wanted without hooks, of which none are traced; and no output of calls wants them.
TEST(Runtime, IsToldIfAnybodyWantsToKnow) {
  for (const char* const options : {"formats=jitdump", "formats=counts hooks=*", "formats=none"}) {
    const TempFolder folder;
    run_runtime(folder, {"1"}, options, "not wanted\n");
    EXPECT_TRUE(test_support::files_below(folder.path(), "calls", "").empty()) << options;
  }
}

}  // namespace
