// The format oprofile: what its files say of a story, and what is left of them by a kill, a full disk or a
// child.
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <memory>
#include <numeric>

#include "tests/readers/oprofile/reader.hpp"
#include "tests/unit/writer/temporary_folder.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/sink/run_sink.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

RunSink* make_oprofile_sink() noexcept;

namespace {

using oprofile_reader::File;
using oprofile_reader::Note;
using Counts = std::map<std::uint64_t, std::uint64_t>;

constexpr std::uint32_t kPid = 4711;

// The files of a process that was killed, as `jitquill recover` hands them out.
class Before final : public Folder {
 public:
  explicit Before(const TemporaryFolder& folder) : path_(folder.path) {}
  int create(const char* name) noexcept override {
    return ::open((path_ / name).c_str(), O_RDWR | O_CLOEXEC);
  }
  void remove(const char*) noexcept override {}

 private:
  std::filesystem::path path_;
};

// As the drain does: the stream, then the journal.
class Story {
 public:
  explicit Story(TemporaryFolder& folder) : folder_(folder) {
    std::filesystem::create_directories(folder.path / "oprofile");
  }
  Status begin(bool is_forked = false) {
    sink.reset(make_oprofile_sink());
    Bytes none;
    const Origin origin{.pid = kPid, .parent_pid = 17, .is_forked = is_forked};
    Status status = sink->begin(origin, out);
    if (status == Status::kOk) status = sink->open_files(folder_, false);
    stream_.adopt(folder_.create("oprofile/samples.opsd"));
    return status;
  }
  Story& module(std::uint64_t address, std::uint64_t size, std::uint64_t offset, std::string_view path) {
    return check(sink->module({1, address, size, offset, path}, out));
  }
  Story& load(std::uint64_t id, std::uint64_t address, std::uint64_t size, std::string_view name) {
    return check(sink->code({CodeNews::Kind::kLoad, id, 1, address, size, name, "", 0}, out));
  }
  Story& move(std::uint64_t id, std::uint64_t address, std::uint64_t size) {
    return check(sink->code({CodeNews::Kind::kMove, id, 1, address, size, "", "", 0}, out));
  }
  Story& unload(std::uint64_t id, std::uint64_t address, std::uint64_t size) {
    return check(sink->code({CodeNews::Kind::kUnload, id, 1, address, size, "", "", 0}, out));
  }
  Story& define(FunctionNumber number, std::uint64_t code_id, std::uint64_t address, std::string_view name) {
    return check(sink->define({number, code_id, address, 16, name, "", 0}, out));
  }
  Status try_samples(std::uint32_t cpu, std::vector<SampleView> samples) {
    return sink->samples({cpu, 0, samples}, out);
  }
  Story& sample(std::uint64_t ip, FunctionNumber function, std::uint64_t offset, bool is_kernel = false) {
    const SampleFrame frame{ip, offset, function};
    return check(try_samples(1, {{1, ip, kPid, kPid, is_kernel, false, {&frame, 1}}}));
  }
  Status write() {
    const Status status = stream_.append(out.view());
    out.clear();
    sink->written(status == Status::kOk);
    return status;
  }
  Story& commit() {
    EXPECT_EQ(write(), Status::kOk);
    sink->put_changes(state.emplace_back());
    return *this;
  }
  void end() {
    EXPECT_EQ(sink->end(9, out), Status::kOk);
    commit();
    sink.reset();
  }
  File file(const char* name, bool was_killed = false) const {
    const File read =
        oprofile_reader::read_file((folder_.path / "oprofile" / name).string(), {.was_killed = was_killed});
    EXPECT_EQ(describe(read.violations), "") << name;
    return read;
  }
  Counts addresses(bool was_killed = false) const { return counts("addresses#0.opdb", was_killed); }
  Counts functions(bool was_killed = false) const { return counts("functions#0.opdb", was_killed); }
  Counts stream(bool was_killed = false) const {
    Counts counts;
    for (const auto& buffer : file("samples.opsd", was_killed).buffers)
      for (const auto& sample : buffer.samples) counts[sample.address] += sample.count;
    return counts;
  }
  std::string path_of(std::uint64_t index) const { return file("paths.ophd").paths.at(index); }

  std::unique_ptr<RunSink> sink;
  Bytes out;
  struct States {
    Bytes& emplace_back() {
      all.push_back(std::make_unique<Bytes>());
      return *all.back();
    }
    std::vector<std::unique_ptr<Bytes>> all;
  } state;

 private:
  Story& check(Status status) {
    EXPECT_EQ(status, Status::kOk);
    return *this;
  }
  Counts counts(const char* name, bool was_killed) const {
    const auto all = file(name, was_killed).database.counts;
    return {all.begin(), all.end()};
  }

  TemporaryFolder& folder_;
  GroupFile stream_;
};

std::uint64_t sum_of(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& one) { return sum + one.second; });
}

TEST(OprofileSink, SaysWhatIsMappedWhereAndWhoRan) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(true), Status::kOk);
  story.module(0x400000, 0x1000, 0x200, "/usr/bin/host").module(0x7f0000, 0x2000, 0, "/lib/libc.so.6");
  story.load(5, 0x10000, 0x40, "fib").load(6, 0x20000, 0x80, "a/b").load(7, 0x30000, 0x10, "fib");
  story.move(6, 0x28000, 0x80).unload(5, 0x10000, 0x40).move(99, 1, 1);
  story.module(0x7f0000, 0x2000, 0, "");
  story.commit().end();
  const auto notes = story.file("notes.opnd").notes;
  const auto says = [&](std::size_t i, std::uint64_t type, std::uint64_t address, std::uint64_t length,
                        std::uint64_t offset, const std::string& path) {
    ASSERT_LT(i, notes.size());
    EXPECT_EQ(notes[i].type, type) << i;
    EXPECT_EQ(notes[i].address, address) << i;
    EXPECT_EQ(notes[i].length, length) << i;
    EXPECT_EQ(notes[i].offset, offset) << i;
    ASSERT_TRUE(notes[i].path) << i;
    EXPECT_EQ(*notes[i].path == 0 ? "" : story.path_of(*notes[i].path), path) << i;
  };
  ASSERT_EQ(notes.size(), 10u);
  says(0, 1, kPid, 0, 0, "");  // forked
  EXPECT_EQ(notes[0].pid, 17u);
  says(1, 4, 0x400000, 0x1000, 0x200, "/usr/bin/host");
  says(2, 2, 0x7f0000, 0x2000, 0, "/lib/libc.so.6");
  says(3, 2, 0x10000, 0x40, 0, "/jit/4711/fib");
  says(4, 2, 0x20000, 0x80, 0x40,
       "/jit/4711/a\xE2\x88\x95"
       "b");
  says(5, 2, 0x30000, 0x10, 0xC0, "/jit/4711/fib~7");
  says(6, 2, 0x28000, 0x80, 0x40,
       "/jit/4711/a\xE2\x88\x95"
       "b");
  says(7, 2, 0x10000, 0x40, 0, "");
  says(8, 2, 0x7f0000, 0x2000, 0, "");
  says(9, 16, 0, 0, 0, "");
  EXPECT_EQ(notes[9].pid, kPid);
}

TEST(OprofileSink, CountsByAddressAndByFunction) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(), Status::kOk);
  story.module(0x400000, 0x1000, 0, "/usr/bin/host").load(5, 0x10000, 0x40, "fib");
  story.define(0, 5, 0x10000, "fib").define(1, 0, 0x400100, "main").define(2, 0, 0x900000, "0x900000");
  story.define(3, 9, 0, "interpreted");
  story.sample(0x10010, 0, 0x10).sample(0x10010, 0, 0x10).sample(0x10014, 0, 0x14).commit();
  story.sample(0x400120, 1, 0x20).sample(0x900000, 2, 0).sample(0x10010, 0, 0x10).sample(0x77, 3, 1);
  story.sample(0xFFFFFFFF81000010, 1, 0x20, true).commit().end();
  EXPECT_EQ(
      story.addresses(),
      (Counts{{0x77, 1}, {0x10010, 3}, {0x10014, 1}, {0x400120, 1}, {0x900000, 1}, {0xFFFFFFFF81000010, 1}}));
  EXPECT_EQ(story.stream(), story.addresses());
  std::map<std::string, std::uint64_t> by_name;
  for (const auto& [key, count] : story.functions())
    by_name[story.path_of(key >> 32) + "+" + std::to_string(key & 0xFFFFFFFF)] = count;
  EXPECT_EQ(by_name, (std::map<std::string, std::uint64_t>{{"/jit/4711/fib+16", 3},
                                                           {"/jit/4711/fib+20", 1},
                                                           {"/jit/4711/interpreted+1", 1},
                                                           {"/kernel+2164260880", 1},
                                                           {"/native/0x900000+0", 1},
                                                           {"/usr/bin/host/main+32", 1}}));
}

TEST(OprofileSink, PutsABufferForEachBatchAndSaysWhenItStops) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(), Status::kOk);
  story.define(0, 5, 0x10000, "fib");
  const SampleFrame frame{0x10, 0, 0};
  const auto view = [&](std::uint64_t ip, std::uint32_t pid) {
    return SampleView{1, ip, pid, pid, false, false, {&frame, 1}};
  };
  EXPECT_EQ(story.try_samples(3, {view(9, 1), view(8, 1), view(9, 1), view(9, 2)}), Status::kOk);
  EXPECT_EQ(story.try_samples(0, {}), Status::kOk);
  EXPECT_EQ(story.try_samples(0, {view(9, 1)}), Status::kOk);
  story.commit().end();
  const auto buffers = story.file("samples.opsd").buffers;
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[0].cpu, 3u);
  EXPECT_EQ(buffers[0].state, 2u);
  ASSERT_EQ(buffers[0].samples.size(), 3u);
  EXPECT_EQ(buffers[0].samples[1].address, 9u);
  EXPECT_EQ(buffers[0].samples[1].count, 2u);
  EXPECT_EQ(buffers[0].samples[2].pid, 2u);
  EXPECT_EQ(buffers[1].samples.size(), 1u);
  EXPECT_EQ(buffers[2].state, 1u);
  EXPECT_EQ(buffers[2].samples.size(), 0u);
}

// Killed behind each commit, and recovered: the databases have what the stream has.
TEST(OprofileSink, HasAfterAKillWhatItsStreamHas) {
  for (int commits = 0; commits < 6; ++commits) {
    TemporaryFolder folder;
    Story story(folder);
    ASSERT_EQ(story.begin(), Status::kOk);
    story.load(5, 0x10000, 0x40, "fib").define(0, 5, 0x10000, "fib").commit();
    for (int i = 0; i < commits; ++i) {
      for (int j = 0; j <= i; ++j)
        story.sample(0x10000 + static_cast<std::uint64_t>(j), 0, static_cast<std::uint64_t>(j));
      story.commit();
    }
    story.load(6, 0x20000, 0x10, "late");  // its note is behind what the journal says
    const std::uint64_t in_stream = sum_of(story.stream(true));
    EXPECT_LE(sum_of(story.addresses(true)), in_stream);
    if (commits % 2 == 1) story.sample(0x99999, 0, 0);  // in no file yet, but the counts before it are
    const auto killed = story.sink.release();           // no end, no destructor
    story.out.clear();
    story.sink.reset(make_oprofile_sink());
    for (const auto& state : story.state.all) ASSERT_TRUE(story.sink->apply(state->view()));
    Before before(folder);
    ASSERT_EQ(story.sink->open_files(before, true), Status::kOk);
    story.move(5, 0x50000, 0x40);
    story.end();
    EXPECT_EQ(story.stream(), story.addresses());
    EXPECT_EQ(sum_of(story.functions()), in_stream);
    EXPECT_EQ(in_stream, static_cast<std::uint64_t>(commits * (commits + 1) / 2));
    const auto notes = story.file("notes.opnd").notes;
    ASSERT_EQ(notes.size(), 3u);
    EXPECT_EQ(notes[1].address, 0x50000u);
    killed->forget_files();
    delete killed;
  }
}

TEST(OprofileSink, DropsWhatTheStreamCouldNotTake) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(), Status::kOk);
  story.define(0, 5, 0x10000, "fib").sample(1, 0, 0).commit().sample(2, 0, 0).sample(2, 0, 0);
  story.out.clear();
  story.sink->written(false);
  story.sample(3, 0, 0).commit();
  EXPECT_EQ(story.sink->losses().samples, 2u);
  story.end();
  EXPECT_EQ(story.addresses(), (Counts{{1, 1}, {3, 1}}));
  EXPECT_EQ(story.stream(), story.addresses());
}

// The databases cannot grow: what they do not take is not in the stream either, but the last of it, counted.
TEST(OprofileSink, CountsWhatHasNoRoomOnTheDisk) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(), Status::kOk);
  story.define(0, 5, 0x10000, "fib").commit();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{60'000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::uint64_t refused = 0;
  constexpr std::uint64_t kSamples = 3'000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const SampleFrame frame{i, i, 0};
    const Status status =
        story.try_samples(0, {{1, i * 7919 % kSamples, kPid, 1, false, false, {&frame, 1}}});
    refused += status == Status::kOk ? 0 : 1;
    (void)story.write();
    story.sink->put_changes(story.state.emplace_back());
  }
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, old);
  EXPECT_GT(refused, 100u);
  EXPECT_EQ(story.sink->losses().samples, refused);
  story.end();
  EXPECT_EQ(story.stream(), story.addresses());
  EXPECT_EQ(sum_of(story.functions()), kSamples - refused);
}

// As a daemon does, whose next file has the number of one of ours.
TEST(OprofileSink, GoesOnWhenItsDescriptorsWereClosed) {
  TemporaryFolder plain;
  class Reopening final : public Folder {
   public:
    explicit Reopening(TemporaryFolder& folder) : folder_(folder) {}
    int create(const char* name) noexcept override { return made.emplace_back(folder_.create(name)); }
    int open_again(const char* name) noexcept override { return Before(folder_).create(name); }
    void remove(const char*) noexcept override {}
    std::vector<int> made;

   private:
    TemporaryFolder& folder_;
  } folder(plain);
  std::filesystem::create_directories(plain.path / "oprofile");
  std::unique_ptr<RunSink> sink(make_oprofile_sink());
  Bytes out;
  ASSERT_EQ(sink->begin({.pid = kPid}, out), Status::kOk);
  ASSERT_EQ(sink->open_files(folder, false), Status::kOk);
  for (const int descriptor : folder.made) ::close(descriptor);
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  constexpr std::uint64_t kSamples = 2'000;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const std::string name = "a function with a long name, so that the pool grows: " + std::to_string(i);
    ASSERT_EQ(sink->code({CodeNews::Kind::kLoad, i + 1, 1, 64 * i, 64, name, "", 0}, out), Status::kOk);
    ASSERT_EQ(sink->define({static_cast<FunctionNumber>(i), i + 1, 64 * i, 64, name, "", 0}, out),
              Status::kOk);
    const SampleFrame frame{i, 7, static_cast<FunctionNumber>(i)};
    const SampleView view{1, 64 * i + 7, kPid, 1, false, false, {&frame, 1}};
    ASSERT_EQ(sink->samples({0, 0, {&view, 1}}, out), Status::kOk);
    sink->written(true);
    Bytes state;
    sink->put_changes(state);
  }
  ASSERT_EQ(sink->end(9, out), Status::kOk);
  const RunLosses losses = sink->losses();
  sink.reset();
  ::close(other);
  EXPECT_EQ(losses.names + losses.samples + losses.counts, 0u);
  const auto read = [&](const char* name) {
    const File file = oprofile_reader::read_file((plain.path / "oprofile" / name).string());
    EXPECT_EQ(describe(file.violations), "") << name;
    return file;
  };
  EXPECT_EQ(read("addresses#0.opdb").database.counts.size(), kSamples);
  EXPECT_EQ(read("functions#0.opdb").database.counts.size(), kSamples);
  EXPECT_EQ(read("notes.opnd").notes.size(), kSamples + 1);
}

// Its parent may have been in the middle of anything.
TEST(OprofileSink, LeavesItsFilesAloneInAChild) {
  TemporaryFolder folder;
  Story story(folder);
  ASSERT_EQ(story.begin(), Status::kOk);
  story.define(0, 5, 0x10000, "fib").sample(1, 0, 0).commit();
  const pid_t child = ::fork();
  if (child == 0) {
    story.sink->forget_files();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  story.sample(2, 0, 0).commit().end();
  EXPECT_EQ(story.addresses(), (Counts{{1, 1}, {2, 1}}));
}

TEST(OprofileSink, SaysThatItCannotBegin) {
  TemporaryFolder folder;
  folder.error = ENOSPC;
  EXPECT_EQ(Story(folder).begin(), Status::kNoSpace);
  folder.error = EACCES;
  EXPECT_EQ(Story(folder).begin(), Status::kNoOutput);
}

}  // namespace
}  // namespace jitquill
