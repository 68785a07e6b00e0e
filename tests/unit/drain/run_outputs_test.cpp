// Outputs whose files have no room, or not enough, and those who read them at the last moment.
#include "agent/drain/run_outputs.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/base/counters.hpp"
#include "tests/unit/drain/drained_process.hpp"
#include "tests/unit/drain/process_place.hpp"

namespace jitquill::drain {
namespace {

class NothingDefined final : public Defined {
 public:
  Mark so_far() const noexcept override { return {}; }
  void define_again(const Mark&, RunSink&, Bytes&) noexcept override {}
};

class WithoutRoom : public testing::Test {
 protected:
  static constexpr std::uint64_t kSamples = 20;

  WithoutRoom() {
    sigset_t caused;
    sigemptyset(&caused);
    sigaddset(&caused, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &caused, nullptr);  // as guests do
    getrlimit(RLIMIT_FSIZE, &before_);
  }
  ~WithoutRoom() override { give_room(); }
  void take_room() { set_room({0, before_.rlim_max}); }
  void give_room() { set_room(before_); }
  void open() {
    RunOutputs::Settings settings;
    settings.formats = tests::format_bit("oprofile");
    settings.origin.pid = 4711;
    ASSERT_EQ(outputs.open(settings, folder_, defined_, nullptr), Status::kOk);
  }
  void sample() {
    const SampleFrame frame{0x1000, 0, {}};
    const SampleView view{1'000, 0x1000, 4711, 4711, false, false, {&frame, 1}};
    for (std::uint64_t i = 0; i < kSamples; ++i) outputs.samples({0, 0, {&view, 1}});
  }
  static std::uint64_t lost() { return counted(static_cast<std::size_t>(Counter::oprofile_samples_lost)); }

  RunOutputs outputs;

 private:
  static void set_room(const rlimit& room) { ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &room), 0); }
  rlimit before_{};
  test_support::TempFolder place_;
  tests::PlainFolder folder_{place_.path()};
  NothingDefined defined_;
};

TEST_F(WithoutRoom, WhatIsKeptIsNotLost) {
  open();
  sample();
  const std::uint64_t lost_before = lost();
  take_room();
  outputs.append();
  give_room();
  EXPECT_EQ(lost(), lost_before);
  sample();
  outputs.append();
  outputs.end(2'000);
  EXPECT_EQ(lost(), lost_before);
  EXPECT_GT(outputs.bytes(), 0u);
}

TEST_F(WithoutRoom, WhatIsDroppedIsLost) {
  open();
  sample();
  const std::uint64_t lost_before = lost();
  take_room();
  outputs.append();
  outputs.end(2'000);
  outputs.append();
  give_room();
  EXPECT_EQ(lost(), lost_before + kSamples);
}

TEST_F(WithoutRoom, NothingIsToBeCommitted) {
  open();
  take_room();
  outputs.append();
  give_room();
  EXPECT_FALSE(outputs.has_bytes());
  sample();
  EXPECT_TRUE(outputs.has_bytes());
}

TEST_F(WithoutRoom, NobodyGoesOnBehindAStartThatIsMissing) {
  open();
  take_room();
  outputs.append();
  give_room();
  Bytes state;
  for (const bool is_there : {false, true}) {
    if (is_there) {
      sample();
      outputs.append();
    }
    outputs.put(false, state);
    RunOutputs after;
    ByteSource source(state.view());
    EXPECT_TRUE(after.apply(source));
    if (is_there) {
      EXPECT_TRUE(after.apply(source));
    }
    EXPECT_EQ(after.any(), is_there);
  }
}

TEST(LimitedFile, HasNoMoreOfOneLooksSamplesThanItMay) {
  constexpr std::uint64_t kLimit = 32 << 10, kSamples = 4'000;
  const test_support::TempFolder place;
  tests::PlainFolder folder{place.path()};
  NothingDefined defined;
  RunOutputs::Settings settings;
  settings.formats = tests::format_bit("eventlog");
  settings.run.samples_hz = 999;
  settings.limits = {kLimit, 0};
  RunOutputs outputs;
  ASSERT_EQ(outputs.open(settings, folder, defined, nullptr), Status::kOk);
  const SampleFrame frame{0x1000, 0, {}};
  std::vector<SampleView> samples;
  for (std::uint64_t i = 0; i < kSamples; ++i)
    samples.push_back({1'000 + i, 0x1000, 4711, 4711, false, false, {&frame, 1}});
  outputs.samples({0, 3, samples});
  outputs.end(9'000);
  outputs.append();
  std::size_t found = 0;
  const auto logs = test_support::files_below(place.path(), "", ".eventlog");
  EXPECT_GT(logs.size(), 1u);
  for (const std::string& log : logs) {
    EXPECT_LE(std::filesystem::file_size(log), kLimit) << log;
    const auto file = eventlog_reader::read_file(log);
    EXPECT_EQ(describe(file.violations), "");
    found += file.named("PERF_COUNTER").size();
  }
  EXPECT_EQ(found, kSamples);
}

// Too late to be given a start before the end.
TEST(AtTheEnd, WhoHasJustComeIsToldAll) {
  const test_support::TempFolder place;
  tests::PlainFolder folder{place.path()};
  NothingDefined defined;
  StreamTarget target;
  const std::string path = place.file("socket");
  ASSERT_EQ(target.set("unix:" + path), nullptr);
  RunOutputs::Settings settings;
  settings.formats = target.format = tests::format_bit("eventlog");
  settings.stream = &target;
  settings.stream_path = path.c_str();
  RunOutputs outputs;
  ASSERT_EQ(outputs.open(settings, folder, defined, nullptr), Status::kOk);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  outputs.end(2'000);
  outputs.append();
  outputs.end_streams();
  std::string log(std::size_t{1} << 20, '\0');
  const ssize_t size = recv(client, log.data(), log.size(), MSG_WAITALL);
  close(client);
  ASSERT_GT(size, 0);
  const auto file = eventlog_reader::read(log.substr(0, static_cast<std::size_t>(size)));
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_TRUE(file.has_end);
}

}  // namespace
}  // namespace jitquill::drain
