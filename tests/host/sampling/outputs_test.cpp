// One sampler's samples in all outputs that show them: they agree, and a kill takes nothing but what was
// under way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "tests/host/sampling/sampled.hpp"
#include "tests/readers/oprofile/reader.hpp"

namespace {

namespace fs = std::filesystem;
using test_support::read_text;
using test_support::TempFolder;

constexpr const char* kOptions = "formats=samples,folded,oprofile sample=4999 sample.stack=2k";
// Of what is known. A busy machine gives a short run its time unevenly.
const double kPoints = times(6, 3);

class SampledOutputs : public testing::Test {
 protected:
  void SetUp() override {
    if (!sampled::can_sample()) GTEST_SKIP() << "this machine lets us open no perf event";
  }
};

using Counts = std::map<std::uint64_t, std::uint64_t>;

template <class Key>
std::uint64_t sum_of(const std::map<Key, std::uint64_t>& counts) {
  std::uint64_t sum = 0;
  for (const auto& [key, count] : counts) sum += count;
  return sum;
}

// The files of formats=oprofile in an output folder.
class Oprofile {
 public:
  explicit Oprofile(const fs::path& output, bool was_killed = false)
      : folder_(output / "oprofile"), was_killed_(was_killed) {
    for (const auto& buffer : read("samples.opsd").buffers) {
      last_state = buffer.state;
      for (const auto& sample : buffer.samples) stream[sample.address] += sample.count;
    }
    notes = read("notes.opnd").notes;
    paths = read("paths.ophd").paths;
    addresses = counts("addresses#0.opdb");
    for (const auto& [key, count] : counts("functions#0.opdb")) functions[path(key >> 32)] += count;
  }
  std::string path(std::uint64_t index) const { return index == 0 ? "?" : paths.at(index); }
  // The newest mapping of an address holds; what a program takes away at its end (path 0) had its samples.
  std::string mapped_at(std::uint64_t address) const {
    for (auto note = notes.rbegin(); note != notes.rend(); ++note) {
      const bool is_mapping = (note->type == 2 || note->type == 4) && note->path != 0;
      if (is_mapping && address >= note->address && address - note->address < note->length)
        return note->path ? path(*note->path) : "?";
    }
    return "";
  }

  Counts stream, addresses;
  std::map<std::string, std::uint64_t> functions;  // by path
  std::map<std::uint64_t, std::string> paths;
  std::vector<oprofile_reader::Note> notes;
  std::uint64_t last_state = 9;

 private:
  oprofile_reader::File read(const char* name) const {
    const auto file = oprofile_reader::read_file(folder_ / name, {.was_killed = was_killed_});
    for (const auto& violation : file.violations) {
      const bool is_of_a_kill = was_killed_ && (violation.rule == oprofile_reader::Rule::kNoteTorn ||
                                                violation.rule == oprofile_reader::Rule::kBufferTorn);
      EXPECT_TRUE(is_of_a_kill) << name << ": " << oprofile_reader::describe({violation});
    }
    return file;
  }
  Counts counts(const char* name) const {
    const auto all = read(name).database.counts;
    return {all.begin(), all.end()};
  }

  fs::path folder_;
  bool was_killed_;
};

struct Folded {
  explicit Folded(const fs::path& output) {
    std::istringstream lines(read_text((output / "folded").string()));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t space = line.rfind(' ');
      const std::uint64_t count = std::stoull(line.substr(space + 1));
      const std::string stack = ";" + line.substr(0, space);
      sum += count;
      lost += stack == ";[lost]" ? count : 0;
      from_main += stack.starts_with(";main;") || stack.find(";main;") != stack.npos ? count : 0;
      own[stack.substr(stack.rfind(';') + 1)] += count;
    }
  }
  std::uint64_t sum = 0, lost = 0, from_main = 0;
  std::map<std::string, std::uint64_t> own;
};

double percent(std::uint64_t part, std::uint64_t all) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(all);
}

fs::path output_of(const TempFolder& folder) {
  return fs::path(run_files::only(folder, "notes.opnd")).parent_path().parent_path();
}

TEST_F(SampledOutputs, AgreeAndShowKnownShares) {
  const TempFolder folder;
  const auto ended = test_support::run(
      with_agent(folder, SAMPLING_HOST, {"alone", std::to_string(times(120, 3'000))}, kOptions));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const fs::path output = output_of(folder);
  const sampled::File samples = sampled::read_in(output);
  const Oprofile oprofile(output);
  const Folded folded(output);
  ASSERT_GT(samples.samples, 100u);
  EXPECT_EQ(oprofile.stream, oprofile.addresses);
  EXPECT_EQ(sum_of(oprofile.stream), samples.samples);
  EXPECT_EQ(sum_of(oprofile.functions), samples.samples);
  EXPECT_EQ(folded.sum, samples.samples + samples.lost);
  EXPECT_EQ(folded.lost, samples.lost);
  const std::string host = fs::canonical(SAMPLING_HOST);
  std::uint64_t in_host = 0;
  for (const auto& [address, count] : oprofile.stream)
    in_host += oprofile.mapped_at(address) == host ? count : 0;
  EXPECT_GE(percent(in_host, samples.samples), 95);
  for (const auto& [name, share] :
       {std::pair("seventy", 70), std::pair("twenty", 20), std::pair("ten", 10)}) {
    const auto found = oprofile.functions.find(host + "/" + name);
    ASSERT_NE(found, oprofile.functions.end()) << name;
    EXPECT_NEAR(percent(found->second, samples.samples), share, kPoints) << name;
    EXPECT_NEAR(percent(folded.own.at(name), samples.samples), share, kPoints) << name;
  }
  EXPECT_GE(percent(folded.from_main, folded.sum - folded.lost), 99);
  EXPECT_EQ(oprofile.last_state, 1u);
  EXPECT_EQ(oprofile.notes.front().type, 4u);
  EXPECT_EQ(oprofile.path(*oprofile.notes.front().path), host);
  EXPECT_EQ(oprofile.notes.back().type, 16u);
}

TEST_F(SampledOutputs, NameJittedFunctionsBelowJit) {
  const TempFolder folder;
  const auto ended = test_support::run(
      with_agent(folder, DEMO_JIT, {SHARES}, "formats=folded,oprofile sample=4999 sample.stack=8k"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  const Oprofile oprofile(output_of(folder));
  const Folded folded(output_of(folder));
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [path, count] : oprofile.functions) {
    const std::string name = path.substr(path.rfind('/') + 1);
    if (path.starts_with("/jit/")) by_name[name.substr(0, name.find('~'))] += count;
  }
  const std::uint64_t all = by_name["seventy"] + by_name["twenty"] + by_name["ten"];
  ASSERT_GT(all, 100u);
  EXPECT_NEAR(percent(by_name["seventy"], all), 70, kPoints);
  EXPECT_NEAR(percent(by_name["twenty"], all), 20, kPoints);
  EXPECT_EQ(by_name["seventy"], folded.own.at("seventy"));
  EXPECT_GE(percent(folded.from_main, folded.sum - folded.lost), 99);
  std::uint64_t in_jit = 0;
  for (const auto& [address, count] : oprofile.stream)
    in_jit += oprofile.mapped_at(address).starts_with("/jit/") ? count : 0;
  EXPECT_GE(in_jit, all);
}

TEST_F(SampledOutputs, OfAForkBeginWithIt) {
  const TempFolder folder;
  const auto ended =
      test_support::run(with_preload(folder, SAMPLING_HOST, {"fork", "60"}, "formats=oprofile sample=4999"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  std::map<std::uint64_t, std::uint64_t> forked;  // by parent
  std::vector<std::uint64_t> pids;
  for (const std::string& notes : test_support::files_below(folder.path(), "notes", ".opnd")) {
    const Oprofile one(fs::path(notes).parent_path().parent_path());
    EXPECT_EQ(one.stream, one.addresses);
    pids.push_back(one.notes.back().pid);
    if (one.notes.front().type == 1) forked[one.notes.front().pid] = one.notes.front().address;
  }
  ASSERT_EQ(pids.size(), 2u);
  ASSERT_EQ(forked.size(), 1u);
  const auto& [parent, child] = *forked.begin();
  EXPECT_TRUE((pids[0] == parent && pids[1] == child) || (pids[1] == parent && pids[0] == child));
}

// The hash map does not fit: the kernel sends a signal for it, of which the host may not die.
TEST_F(SampledOutputs, AreThereBesideOneThatHasNoRoom) {
  const TempFolder folder;
  const auto ended = test_support::run(with_agent(folder, "/bin/sh",
                                                  {"-c", "ulimit -f 2250; exec " SAMPLING_HOST " alone 60"},
                                                  "formats=folded,oprofile sample=4999 memory=1100k"));
  ASSERT_TRUE(ended.succeeded()) << ended.describe();
  fs::path output;  // not the shell's
  for (const std::string& file : test_support::files_below(folder.path(), "folded", "")) {
    if (file.find("/sampling_host-") != file.npos) output = fs::path(file).parent_path();
  }
  EXPECT_GT(Folded(output).sum, 10u);
  EXPECT_NE(sampled::log_in(output).find("oprofile: not written: no room"), std::string::npos);
}

struct Recovered {
  std::uint64_t samples = 0;
  std::uint64_t behind = 0;  // what databases lacked of the stream
};

// Whole and equal in all outputs once it is recovered.
Recovered expect_recovered(const TempFolder& folder, const fs::path& output) {
  const Oprofile killed(output, true);
  for (const auto& [address, count] : killed.addresses) EXPECT_LE(count, killed.stream.at(address));
  const auto recovered = test_support::run(
      {.words = {JITQUILL_COMMAND, "recover", output.string()}, .environment = {}, .folder = folder.path()});
  EXPECT_TRUE(recovered.succeeded()) << recovered.describe();
  // Killed while it was beginning: nothing was promised yet.
  if (recovered.out.find("nothing to recover") != recovered.out.npos) return {};
  const Oprofile whole(output);
  const Folded folded(output);
  const std::uint64_t samples = sum_of(whole.stream);
  EXPECT_EQ(whole.stream, whole.addresses);
  EXPECT_EQ(sum_of(whole.functions), samples);
  EXPECT_EQ(folded.sum - folded.lost, samples);
  EXPECT_GE(samples, sum_of(killed.addresses));
  EXPECT_EQ(whole.notes.back().type, 16u);
  return {samples, sum_of(killed.stream) - sum_of(killed.addresses)};
}

// What the drain had taken is there, in order and whole; and when it is recovered all outputs have the same.
TEST_F(SampledOutputs, AreWholeAfterSigkillAtAnyMoment) {
  std::mt19937 random(2026);
  constexpr std::uint64_t kEnough = 20;
  std::uint64_t most = 0, behind = 0;
  unsigned begun = 0;
  const unsigned rounds = times(3, 200);
  // A busy machine has not got far by then: there, a few more, which wait longer.
  const unsigned most_rounds = rounds + 10;
  for (unsigned round = 0; (round < rounds || (most <= kEnough && round < most_rounds)) && !HasFailure();
       ++round) {
    const TempFolder folder;
    test_support::Child child(with_agent(folder, SAMPLING_HOST, {"killed", "1"}, kOptions));
    const auto late_us = round < rounds ? 0 : (round - rounds + 1) * 250'000;
    const auto wait_us = static_cast<useconds_t>(15'000 + random() % 150'000 + late_us);
    ::usleep(wait_us);  // whatever it is doing then
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(30).signal, SIGKILL);
    SCOPED_TRACE("killed after " + std::to_string(wait_us) + " us");
    const auto streams = test_support::files_below(folder.path(), "samples", ".opsd");
    if (streams.empty() || fs::is_empty(streams[0])) continue;  // it was about to begin
    ++begun;
    const Recovered recovered = expect_recovered(folder, output_of(folder));
    most = std::max(most, recovered.samples);
    behind += recovered.behind;
  }
  EXPECT_GT(most, kEnough);
  std::printf(
      "%u kills, %u of a process that had begun: at most %llu samples; databases were %llu behind in all\n",
      rounds, begun, static_cast<unsigned long long>(most), static_cast<unsigned long long>(behind));
}

}  // namespace
