// A program that has code of its own to describe, and no agent: writes a jitdump by the library of formats.
// Argument: the folder of the file.
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "writer/jitdump/sink.hpp"
#include "writer/model/frame_event.hpp"

namespace {

class GivenFolder final : public jitquill::Folder {
 public:
  explicit GivenFolder(std::string path) : path_(std::move(path)) {}
  int create(const char* name) noexcept override {
    const int file = open(at(name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return file < 0 ? -errno : file;
  }
  void remove(const char* name) noexcept override { unlink(at(name).c_str()); }

 private:
  std::string at(const char* name) const { return path_ + "/" + name; }
  std::string path_;
};

std::uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// push rbx; lea eax, [rdi + n]; pop rbx; ret
bool write_adder(jitquill::Sink& sink, std::uint8_t n) {
  const std::array<std::uint8_t, 6> code = {0x53, 0x8D, 0x47, n, 0x5B, 0xC3};
  const std::array<jitquill::FrameEvent, 2> frame = {
      {{1, jitquill::FrameEventKind::kPush, 3, 0}, {5, jitquill::FrameEventKind::kPop, 3, 0}}};
  const std::array<jitquill::Line, 1> lines = {{{0, n, 1, nullptr}}};
  const std::string name = "add_" + std::to_string(n);

  jitquill::CodeLoad load;
  load.id = n;
  load.index = n;
  load.when_ns = now_ns();
  load.address = 0x7000'0000'0000 + 0x1000u * n;
  load.pid = static_cast<std::uint32_t>(getpid());
  load.tid = load.pid;
  load.bytes = code;
  load.name = name;
  load.file = "/home/somebody/adders.src";
  load.lines = lines;
  load.unwinding = jitquill::Unwinding::from_events(frame);
  load.room = 0x800;
  jitquill::Written written;
  return sink.load(load, written) == jitquill::Status::kOk;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  GivenFolder folder(argv[1]);
  const std::unique_ptr<jitquill::Sink> sink{jitquill::make_jitdump_sink()};
  if (sink == nullptr) return 1;
  jitquill::Origin origin;
  origin.pid = static_cast<std::uint32_t>(getpid());
  origin.start_ns = now_ns();
  if (sink->begin(origin, folder) != jitquill::Status::kOk) return 1;
  for (std::uint8_t n = 1; n <= 3; ++n) {
    if (!write_adder(*sink, n)) return 1;
  }
  if (sink->end(now_ns()) != jitquill::Status::kOk) return 1;
  std::puts("result 6");
  return 0;
}
