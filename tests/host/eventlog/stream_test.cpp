// An eventlog that is read while its process runs: by a descriptor, a FIFO, clients of a socket, who come
// late, are slow, or go away.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "tests/host/eventlog/log_files.hpp"
#include "tests/host/jitdump/agent_run.hpp"
#include "tests/host/survival/kill_record.hpp"

namespace {

using eventlog_reader::Event;
using eventlog_reader::File;
using eventlog_reader::Rule;
using test_support::TempFolder;

constexpr std::size_t kSome = 200'000;
constexpr std::size_t kAll = ~std::size_t{0};

// What was read from one end of a stream.
class Reader {
 public:
  explicit Reader(int descriptor) : descriptor_(descriptor) {}
  ~Reader() { close(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  // Until there is so much, or the end. False: it is the end.
  bool read(std::size_t size) {
    std::vector<char> buffer(64 * 1024);
    while (bytes_.size() < size) {
      const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
      if (count <= 0) return false;
      bytes_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return true;
  }
  bool is_open() const { return descriptor_ >= 0; }
  const std::string& bytes() const { return bytes_; }

 private:
  int descriptor_;
  std::string bytes_;
};

int connect_to(const std::string& path, int most_tries = 2'000) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  for (int tries = 0; tries < most_tries; ++tries) {
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return made;
    ::close(made);
    usleep(5'000);
  }
  return -1;
}

// A stream may end anywhere where its reader left.
File judged(const Reader& reader) {
  File file = eventlog_reader::read(reader.bytes());
  for (const auto& violation : file.violations) {
    const bool is_cut =
        violation.rule == Rule::kTorn || violation.rule == Rule::kEnd || violation.rule == Rule::kBlock;
    EXPECT_TRUE(is_cut) << eventlog_reader::describe({violation});
  }
  EXPECT_GT(log_files::entries_by_name(file).size(), 1u);
  EXPECT_EQ(file.named("PROGRAM_ARGS").size(), 1u);
  EXPECT_GT(file.named("RUN_THREAD").size(), 0u);
  return file;
}

// Steps of each of three threads; 0: until it is killed.
test_support::Command host(const TempFolder& folder, const std::string& steps, const std::string& options) {
  (void)kill_record::map(folder.file("progress").c_str());
  return with_agent(folder, KILL_HOST, {folder.file("progress"), "3", steps},
                    "formats=eventlog,calls hooks=* " + options);
}

std::string socket_of(const TempFolder& folder) {
  return folder.file("socket");
}

TEST(EventlogStream, IsWholeForWhoReadsADescriptorFromTheStart) {
  const TempFolder folder;
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  Reader reader(ends[0]);
  test_support::Child child(host(folder, "20000", "eventlog.to=fd:" + std::to_string(ends[1])));
  ::close(ends[1]);
  EXPECT_FALSE(reader.read(kAll));
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  const File file = judged(reader);
  EXPECT_TRUE(file.has_end);
  EXPECT_EQ(describe(file.violations), "");
  EXPECT_EQ(log_files::entries_by_name(file), run_files::calls(folder).calls_by_name());
  EXPECT_TRUE(log_files::all(folder).empty());
  EXPECT_EQ(run_files::stats(folder).at("stream_bytes_lost"), 0u);
}

// When each capability has its first entry. Only those of one capability stand in the order of time: a drain
// that is late may have sent those of one thread before it looks at older ones of another.
std::map<std::uint16_t, std::uint64_t> begins_ns(const File& file) {
  std::map<std::uint16_t, std::uint64_t> begins;
  for (const Event& entry : log_files::numbered(file, log_files::kEnter))
    begins.emplace(entry.capability, entry.when_ns);
  return begins;
}

// Until it has an entry of this capability.
void read_to(Reader& reader, std::uint16_t capability) {
  do {
    ASSERT_TRUE(reader.read(reader.bytes().size() + kSome));
  } while (begins_ns(eventlog_reader::read(reader.bytes())).count(capability) == 0);
}

TEST(EventlogStream, BeginsAnewForEachClient) {
  const TempFolder folder;
  test_support::Child child(host(folder, "0", "eventlog.to=unix:" + socket_of(folder)));
  Reader first(connect_to(socket_of(folder)));
  ASSERT_TRUE(first.is_open());
  ASSERT_TRUE(first.read(kSome));
  const auto in_first = log_files::numbered(eventlog_reader::read(first.bytes()), log_files::kEnter);
  ASSERT_FALSE(in_first.empty());
  const std::uint16_t capability = in_first[0].capability;
  Reader second(connect_to(socket_of(folder)));
  read_to(second, capability);
  first.close();
  Reader third(connect_to(socket_of(folder)));
  read_to(third, capability);
  EXPECT_TRUE(second.read(second.bytes().size() + kSome));
  child.signal(SIGKILL);
  (void)child.wait(10);
  std::uint64_t begin_ns = 0;
  for (const Reader* reader : {&first, &second, &third}) {
    const File file = judged(*reader);
    EXPECT_EQ(file.named("CREATE_THREAD").size(), file.named("THREAD_LABEL").size());
    EXPECT_GT(begins_ns(file)[capability], begin_ns);
    begin_ns = begins_ns(file)[capability];
  }
}

TEST(EventlogStream, WaitsForNoClient) {
  const TempFolder folder;
  test_support::Child child(host(folder, "60000", "eventlog.to=unix:" + socket_of(folder)));
  Reader idle(connect_to(socket_of(folder)));
  ASSERT_TRUE(idle.is_open());
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_GT(run_files::stats(folder).at("stream_bytes_lost"), 0u);
  EXPECT_FALSE(std::filesystem::exists(socket_of(folder)));
  EXPECT_FALSE(idle.read(kAll));
  (void)judged(idle);
}

TEST(EventlogStream, GoesOnForAClientThatWasTooSlow) {
  const TempFolder folder;
  test_support::Child child(host(folder, "0", "eventlog.to=unix:" + socket_of(folder)));
  Reader slow(connect_to(socket_of(folder)));
  EXPECT_TRUE(slow.read(1));
  Reader clock(connect_to(socket_of(folder)));  // by which there are more than both queues hold
  EXPECT_TRUE(clock.read(std::size_t{5} << 20));
  const auto is_told = [&] {
    return slow.bytes().find("bytes of this log are lost here") != std::string::npos;
  };
  while (!is_told() && slow.read(slow.bytes().size() + kSome)) {
  }
  EXPECT_TRUE(slow.read(slow.bytes().size() + kSome));
  child.signal(SIGKILL);
  (void)child.wait(10);
  EXPECT_TRUE(is_told());
  (void)judged(slow);
}

TEST(EventlogStream, OutlivesItsClients) {
  const TempFolder folder;
  test_support::Child child(host(folder, "30000", "eventlog.to=unix:" + socket_of(folder)));
  for (int i = 0; i < 20; ++i) {
    Reader client(connect_to(socket_of(folder), i == 0 ? 2'000 : 1));
    if (!client.is_open()) break;  // it has ended
    (void)client.read(i % 2 == 0 ? 1 : kSome);
  }
  const auto ended = child.wait(60);
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
}

TEST(EventlogStream, BeginsAnewForWhoeverOpensAFifo) {
  const TempFolder folder;
  const std::string fifo = folder.file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  test_support::Child child(host(folder, "0", "eventlog.to=fifo:" + fifo));
  for (int i = 0; i < 2; ++i) {
    Reader reader(open(fifo.c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_TRUE(reader.read(kSome));
    reader.close();
    (void)judged(reader);
    usleep(150'000);  // until it is seen that nobody reads
  }
  child.signal(SIGKILL);
  (void)child.wait(10);
}

// True if the other side closes within the time.
bool ends_within(int descriptor, int wait_ms) {
  char buffer[4096];
  for (pollfd ready = {descriptor, POLLIN, 0}; poll(&ready, 1, wait_ms) == 1;) {
    if (::read(descriptor, buffer, sizeof buffer) <= 0) return true;
  }
  return false;
}

// Which has no news, and may live for long.
TEST(EventlogStream, EndsThoughAForkedChildLives) {
  const TempFolder folder;
  const std::string fifo = folder.file("fifo"), go = folder.file("go"), gate = folder.file("gate");
  for (const std::string& path : {fifo, go, gate}) ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const std::string script = "read line < " + go + "; (read line < " + gate + ") &";
  test_support::Child shell(with_agent(folder, "/bin/sh", {"-c", script},
                                       "formats=eventlog sample=999 children=off eventlog.to=fifo:" + fifo));
  pollfd ready = {reader, POLLIN, 0};
  EXPECT_EQ(poll(&ready, 1, 10'000), 1);  // so the stream is open when the child comes
  ::close(open(go.c_str(), O_WRONLY | O_CLOEXEC));
  const auto ended = shell.wait(30);
  EXPECT_TRUE(ended.exit_code >= 0) << ended.describe();
  EXPECT_TRUE(ends_within(reader, 5'000));
  ::close(open(gate.c_str(), O_WRONLY | O_CLOEXEC));
  ::close(reader);
}

TEST(EventlogStream, IsAFileWhereItsPathIsTooLong) {
  const TempFolder folder;
  const std::string path = socket_of(folder) + "%c%c%c%c%c%c%c";
  const auto ended = test_support::run(host(folder, "2000", "eventlog.to=unix:" + path));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(log_files::entries_by_name(log_files::whole(folder)), run_files::calls(folder).calls_by_name());
}

// A descriptor that can only be read, and one that has no room.
TEST(EventlogStream, SaysWhatADescriptorDoesNotTake) {
  for (const auto& [name, flags] : {std::pair("/dev/null", O_RDONLY), std::pair("/dev/full", O_WRONLY)}) {
    const TempFolder folder;
    const int descriptor = open(name, flags);
    ASSERT_GE(descriptor, 0);
    const auto ended =
        test_support::run(host(folder, "2000", "eventlog.to=fd:" + std::to_string(descriptor)));
    ::close(descriptor);
    EXPECT_TRUE(ended.succeeded()) << ended.describe();
    const auto said = test_support::read_text(run_files::only(folder, "log"));
    if (flags == O_RDONLY) {
      EXPECT_NE(said.find("the descriptor is open for reading only"), said.npos) << said;
      (void)log_files::whole(folder);
    } else {
      EXPECT_NE(said.find("eventlog: its stream ends here: No space left on device"), said.npos) << said;
      EXPECT_GT(run_files::stats(folder).at("stream_bytes_lost"), 0u);
    }
  }
}

TEST(EventlogStream, LeavesToTheProgramWhatIsSentToIt) {
  const TempFolder folder;
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::string request = "for the program";
  ASSERT_EQ(write(ends[0], request.data(), request.size()), static_cast<ssize_t>(request.size()));
  Reader reader(ends[0]);
  test_support::Child child(host(folder, "2000", "eventlog.to=fd:" + std::to_string(ends[1])));
  EXPECT_TRUE(reader.read(kSome));
  EXPECT_TRUE(child.wait(60).succeeded());
  std::string found(request.size(), ' ');
  EXPECT_EQ(recv(ends[1], found.data(), found.size(), MSG_DONTWAIT), static_cast<ssize_t>(found.size()));
  EXPECT_EQ(found, request);
  ::close(ends[1]);
  (void)judged(reader);
}

// What connect() says of it is what it says of the socket of a process that is gone.
TEST(EventlogStream, LeavesAloneWhatIsNoSocketAtItsPath) {
  const TempFolder folder;
  const std::string path = socket_of(folder);
  std::ofstream(path) << "the user's";
  const auto ended = test_support::run(host(folder, "2000", "eventlog.to=unix:" + path));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(test_support::read_text(path), "the user's");
  const auto said = test_support::read_text(run_files::only(folder, "log"));
  EXPECT_NE(said.find("its path is taken"), said.npos) << said;
  EXPECT_EQ(log_files::entries_by_name(log_files::whole(folder)), run_files::calls(folder).calls_by_name());
}

TEST(EventlogStream, IsAFileWhereNobodyCouldReadIt) {
  const TempFolder folder;
  std::filesystem::create_directory(socket_of(folder));
  const auto ended = test_support::run(host(folder, "2000", "eventlog.to=unix:" + socket_of(folder)));
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  EXPECT_EQ(log_files::entries_by_name(log_files::whole(folder)), run_files::calls(folder).calls_by_name());
}

}  // namespace
