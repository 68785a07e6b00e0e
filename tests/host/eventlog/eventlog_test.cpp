// What real processes leave in their eventlogs.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/host/eventlog/log_files.hpp"

namespace {

using eventlog_reader::Event;
using eventlog_reader::File;
using test_support::TempFolder;
using Names = std::vector<std::string>;

// Of one capability in the order of the file, ours and the markers of blocks left out.
Names names(const File& file, std::uint16_t capability) {
  Names all;
  for (const Event& event : file.events) {
    if (event.capability == capability && event.number < 300 && event.name != "BLOCK_MARKER")
      all.push_back(event.name);
  }
  return all;
}

const Names kLeader = {
    "CREATE_THREAD",
    "THREAD_LABEL",
    "RUN_THREAD",
    "CREATE_THREAD",
    "STOP_THREAD",
    "REQUEST_PAR_GC",
    "GC_START",
    "GC_GLOBAL_SYNC",
    "GC_WORK",
    "GC_WORK",
    "GC_WORK",
    "GC_DONE",
    "HEAP_ALLOCATED",
    "GC_STATS_GHC",
    "HEAP_SIZE",
    "BLOCKS_SIZE",
    "HEAP_LIVE",
    "MEM_RETURN",
    "GC_END",
    "RUN_THREAD",
    "CONC_MARK_BEGIN",
    "CONC_UPD_REM_SET_FLUSH",
    "CONC_MARK_END",
    "CONC_SYNC_BEGIN",
    "CONC_SYNC_END",
    "CONC_SWEEP_BEGIN",
    "NONMOVING_HEAP_CENSUS",
    "CONC_SWEEP_END",
    "SPARK_CREATE",
    "SPARK_DUD",
    "SPARK_OVERFLOW",
    "CREATE_THREAD",
    "CREATE_SPARK_THREAD",
    "SPARK_RUN",
    "SPARK_STEAL",
    "SPARK_FIZZLE",
    "SPARK_GC",
    "SPARK_COUNTERS",
    "USER_MARKER",
    "USER_MSG",
    "LOG_MSG",
    "USER_BINARY_MSG",
    "THREAD_RUNNABLE",
    "MIGRATE_THREAD",
    "THREAD_WAKEUP",
    "STOP_THREAD",
    "RUN_THREAD",
    "STOP_THREAD",
};
const Names kOther = {"RUN_THREAD", "STOP_THREAD", "GC_START",   "GC_WORK",    "GC_IDLE",
                      "GC_DONE",    "GC_END",      "RUN_THREAD", "STOP_THREAD"};

void run_host(const TempFolder& folder, const std::string& host, const Names& arguments,
              const std::string& options) {
  test_support::Child child(with_agent(folder, host, arguments, options));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_no_lanes(child.pid());
  const auto stats = run_files::stats(folder);
  EXPECT_EQ(stats.at("eventlog_events_refused"), 0u);
  EXPECT_EQ(stats.at("eventlog_events_cut"), 0u);
  EXPECT_EQ(stats.at("write_errors"), 0u);
}

TEST(Eventlog, HasAllThatARuntimeTold) {
  const TempFolder folder;
  run_host(folder, RUNTIME_HOST, {"1"}, "formats=eventlog hooks=*");
  const File file = log_files::whole(folder);
  EXPECT_EQ(names(file, 0), kLeader);
  EXPECT_EQ(names(file, 1), kOther);
  EXPECT_EQ(file.backward_steps, 0u);
  EXPECT_EQ(file.named("TASK_CREATE").size(), 2u);
  EXPECT_EQ(file.named("HEAP_PROF_SAMPLE_STRING").size(), 1u);
  EXPECT_EQ(file.named("RTS_IDENTIFIER").back().texts, Names{"model runtime 1.0"});
  EXPECT_EQ(file.named("PROGRAM_ARGS").at(0).texts, (Names{RUNTIME_HOST, "1"}));
  EXPECT_EQ(log_files::numbered(file, log_files::kRuntimeEvent).size(), 1u);
  EXPECT_EQ(log_files::entries_by_name(file),
            (std::map<std::string, std::uint64_t>{{"main", 1}, {"work", 1}}));
}

#ifdef JITQUILL_COMMAND
TEST(Eventlog, IsShownAndCheckedByTheCommand) {
  const TempFolder folder;
  run_host(folder, RUNTIME_HOST, {"1"}, "formats=eventlog hooks=*");
  const std::string log = log_files::only(folder);
  const auto command = [&](const std::string& verb, const std::string& file) {
    return test_support::run({.words = {JITQUILL_COMMAND, verb, file}, .environment = {}, .folder = {}});
  };
  const auto shown = command("show", log);
  EXPECT_TRUE(shown.succeeded()) << shown.describe();
  for (const char* const part : {" cap   0 STOP_THREAD thread 1, status 1, info 0\n", " cap   1 GC_IDLE\n",
                                 " - CAPSET_DELETE capset 1\n", " cap   0 JITQUILL_ENTER function 0\n",
                                 "name work, file /src/runtime.lang\n", " end of data\n"})
    EXPECT_NE(shown.out.find(part), shown.out.npos) << part;
  const auto checked = command("check", log);
  EXPECT_TRUE(checked.succeeded()) << checked.describe();
  EXPECT_NE(checked.out.find(" records, 0 wrong, 0 notes\n"), checked.out.npos) << checked.out;
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 3);
  const auto torn = command("check", log);
  EXPECT_TRUE(torn.succeeded()) << torn.describe();
  EXPECT_NE(torn.out.find("note: torn:"), torn.out.npos) << torn.out;
}
#endif

TEST(Eventlog, HasOnlyEventsOfGhcIfAsked) {
  const TempFolder folder;
  run_host(folder, RUNTIME_HOST, {"1"}, "formats=eventlog hooks=* eventlog.own=0 eventlog.level=9.12");
  const File file = log_files::whole(folder);
  EXPECT_LT(file.types.rbegin()->first, log_files::kClockBase);
  EXPECT_EQ(file.named("NONMOVING_PRUNED_SEGMENTS").size(), 1u);
  EXPECT_EQ(names(file, 1), kOther);
}

// Its runtime tells of nothing: each thread of the system has a row.
TEST(Eventlog, HasARowForEachThreadThatCalls) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "16"}, "formats=eventlog,calls hooks=*");
  const File file = log_files::whole(folder);
  std::size_t threads = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) threads += !thread.calls.empty();
  EXPECT_GE(threads, 8u);
  EXPECT_EQ(file.named("TASK_CREATE").size(), threads);
  EXPECT_EQ(file.named("TASK_DELETE").size(), threads);
  EXPECT_EQ(file.named("CREATE_THREAD").size(), threads);
  EXPECT_EQ(log_files::entries_by_name(file), run_files::calls(folder).calls_by_name());
}

TEST(Eventlog, GoesOnInAnotherFileWhereOneIsFull) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "2000"}, "formats=eventlog,calls hooks=* max_bytes=64k");
  std::map<std::string, std::uint64_t> entries;
  const auto files = log_files::all_whole(folder);
  ASSERT_GT(files.size(), 3u);
  for (const File& file : files) {
    for (const auto& [name, count] : log_files::entries_by_name(file)) entries[name] += count;
    EXPECT_EQ(file.named("WALL_CLOCK_TIME").size(), 1u);
    EXPECT_EQ(file.named("PROGRAM_ARGS").size(), 1u);
    EXPECT_EQ(file.named("CREATE_THREAD").size(), file.named("THREAD_LABEL").size());
  }
  EXPECT_EQ(entries, run_files::calls(folder).calls_by_name());
}

TEST(Eventlog, KeepsAsManyFilesAsAreWanted) {
  const TempFolder folder;
  run_host(folder, THREADS_HOST, {"short", "2000"}, "formats=eventlog hooks=* max_bytes=64k generations=2");
  const auto files = log_files::all(folder);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_NE(std::filesystem::path(files[0]).stem().extension(), "");
  EXPECT_EQ(log_files::all_whole(folder)[1].events.back().name, "CAPSET_DELETE");
}

#ifdef DEMO_JIT
Names nib(const char* program, Names switches = {}) {
  switches.push_back(std::string(PROGRAMS) + "/" + program + ".nib");
  return switches;
}

// A tool that has both can lay them over each other.
TEST(Eventlog, HasTheNanosecondsOfTheDump) {
  const TempFolder folder;
  run_host(folder, DEMO_JIT, nib("producers"), "formats=eventlog,jitdump");
  const File file = log_files::whole(folder);
  const auto bases = log_files::numbered(file, log_files::kClockBase);
  ASSERT_EQ(bases.size(), 1u);
  const std::uint64_t base = log_files::number_at(bases[0], 0, 8);
  std::map<std::uint64_t, std::uint64_t> loads;
  for (const Event& load : log_files::numbered(file, log_files::kCodeLoad))
    loads[log_files::number_at(load, 8, 8)] = base + load.when_ns;
  const auto dump = only_dump(folder);
  EXPECT_EQ(loads.size(), dump.functions.size());
  for (const auto& function : dump.functions) EXPECT_EQ(loads[function.address], function.when);
  EXPECT_EQ(file.named("IPE").size(), loads.size());
}

TEST(Eventlog, OfNibHasItsThreadsAndCollections) {
  const TempFolder folder;
  run_host(folder, DEMO_JIT, nib("producers", {"--gc-stress"}), "formats=eventlog,calls");
  const File file = log_files::whole(folder);
  std::size_t created = 0, collections = 0, waits = 0;
  for (const auto& [name, thread] : run_files::calls(folder).threads) {
    for (const auto& event : thread.events) {
      created += event.words.starts_with("thread created");
      collections += event.words == "all stopped for collection";
      waits += event.words.find("waits for a message") != event.words.npos;
    }
  }
  EXPECT_GT(collections, 50u);
  EXPECT_EQ(file.named("CREATE_THREAD").size(), created);
  EXPECT_EQ(file.named("GC_GLOBAL_SYNC").size(), collections);
  EXPECT_EQ(file.named("GC_STATS_GHC").size(), collections);
  std::size_t reads = 0;
  for (const Event& stop : file.named("STOP_THREAD")) reads += stop.numbers.at(1) == 20;
  EXPECT_EQ(reads, waits);
}

// Nearly all: what comes while the end is written is in no figure.
TEST(Eventlog, SaysWhatReadingTheRecordsTook) {
  const TempFolder folder;
  test_support::Child child(
      with_agent(folder, DEMO_JIT, nib("producers", {"--gc-stress"}), "formats=eventlog hooks=*"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto costs = log_files::numbered(log_files::whole(folder), log_files::kSelfCost);
  ASSERT_FALSE(costs.empty());
  std::uint64_t cpu_ns = 0, records = 0;
  for (const Event& cost : costs) {
    EXPECT_GT(log_files::number_at(cost, 0, 8), cpu_ns);
    EXPECT_GT(log_files::number_at(cost, 8, 8), records);
    cpu_ns = log_files::number_at(cost, 0, 8);
    records = log_files::number_at(cost, 8, 8);
  }
  EXPECT_LE(records, run_files::stats(folder).at("run_records"));
  EXPECT_GT(records * 2, run_files::stats(folder).at("run_records"));
}

// Of the beginning nothing is left: what came before is not known, and still the rest is told.
TEST(Eventlog, IsOfTheNewestInFlight) {
  const TempFolder folder;
  test_support::Child child(with_agent(folder, DEMO_JIT, nib("producers", {"--gc-stress"}),
                                       "formats=eventlog policy=flight memory=1300k"));
  const auto ended = child.wait(60);
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const auto stats = run_files::stats(folder);
  const File file = log_files::whole(folder);
  EXPECT_GT(stats.at("run_records_lost"), 1'000u);
  EXPECT_GT(log_files::numbered(file, log_files::kLost).size(), 0u);
  EXPECT_GT(file.named("GC_STATS_GHC").size(), 10u);
  EXPECT_LT(stats.at("eventlog_events_refused") * 10, file.events.size());
  EXPECT_EQ(file.backward_steps, 0u);
}

// Nothing is told again with another time.
TEST(Eventlog, KeepsToTheLimitWithAllThatARuntimeDefined) {
  const TempFolder folder;
  run_host(folder, DEMO_JIT, nib("producers", {"--gc-stress"}), "formats=eventlog max_bytes=64k");
  const auto files = log_files::all_whole(folder);
  ASSERT_GT(files.size(), 3u);
  std::map<std::uint64_t, std::uint64_t> loads;
  for (const File& file : files) {
    for (const Event& load : log_files::numbered(file, log_files::kCodeLoad))
      EXPECT_EQ(loads.try_emplace(log_files::number_at(load, 0, 8), load.when_ns).first->second,
                load.when_ns);
    EXPECT_EQ(file.named("RTS_IDENTIFIER").size(), 2u);
    EXPECT_EQ(file.named("HEAP_INFO_GHC").size(), 1u);
  }
  constexpr std::size_t kLeastLimit = 64 * 1024;
  for (const std::string& path : log_files::all(folder))
    EXPECT_LE(std::filesystem::file_size(path), kLeastLimit) << path;
}
#endif

}  // namespace
