#include "agent/base/log.hpp"

#include <algorithm>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <cerrno>
#include <ctime>
#include <new>

#include "agent/base/text_line.hpp"
#include "writer/bytes/growth.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr int kStandardError = 2;
constexpr std::size_t kMaxNameInLine = 200;
// Which file the process began with as its stderr; inode 0: none.
constinit std::uint64_t g_error_device = 0;
constinit std::uint64_t g_error_inode = 0;

// Its number may stand for a file of the host's by now, and nobody may read what is a full pipe: a line waits
// for nobody, since its thread holds the leaf lock.
bool takes_a_line() noexcept {
  struct stat status {};
  if (g_error_inode == 0 || raw::status_of(kStandardError, status) != 0) return false;
  if (status.st_dev != g_error_device || status.st_ino != g_error_inode) return false;
  pollfd wanted{kStandardError, POLLOUT, 0};
  const timespec at_once{};
  return raw::call(SYS_ppoll, &wanted, 1, &at_once, nullptr, 0) == 1 && (wanted.revents & POLLOUT) != 0;
}

void put_line(Message& line, std::uint32_t pid, std::string_view words) noexcept {
  line.text("jitquill[").number(pid).text("]: ").text(words).end();
}

// Statuses are small numbers on both sides of 0: kOk is bit 32.
std::uint64_t bit_of(Status status) noexcept {
  return std::uint64_t{1} << ((static_cast<std::int32_t>(status) + 32) & 63);
}

}  // namespace

void say_on_stderr(std::uint32_t pid, std::string_view words) noexcept {
  if (!takes_a_line()) return;
  Message line;
  put_line(line, pid, words);
  const long written = raw::write(kStandardError, line.view().data(), line.view().size());
  if (written < 0) take_caused_signal(written);
}

void note_standard_error() noexcept {
  struct stat status {};
  if (raw::status_of(kStandardError, status) != 0) return;
  g_error_device = status.st_dev;
  g_error_inode = status.st_ino;
}

void Log::open(Folder& folder, const char* name, bool verbose, std::uint32_t pid) noexcept {
  close();
  folder_ = &folder;
  name_ = name;
  verbose_ = verbose;
  pid_ = pid;
  file_failed_ = name[0] == '\0';
  said_ = 0;
}

bool Log::say(std::string_view words) noexcept {
  if (verbose_) say_on_stderr(pid_, words);
  if (folder_ == nullptr || file_failed_) return false;
  if (file_ == nullptr && !make_file()) return false;
  Message line;
  put_line(line, pid_, words);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.view().data());
  const Status status = file_->append({bytes, line.view().size()});
  return status == Status::kOk;
}

void Log::say_for_sure(std::string_view words) noexcept {
  const bool is_wanted = *name_ != '\0';  // log=none asks for silence
  if (!say(words) && is_wanted && !verbose_) say_on_stderr(pid_, words);
}

bool Log::make_file() noexcept {
  const int descriptor = folder_->create(name_);
  if (descriptor >= 0) file_ = new (std::nothrow) GroupFile;
  file_failed_ = file_ == nullptr;
  if (!file_failed_) {
    file_->adopt(descriptor);
  } else if (descriptor >= 0) {
    raw::close(descriptor);
  }
  return !file_failed_;
}

void Log::say_once(Status status, std::string_view what) noexcept {
  if ((said_ & bit_of(status)) != 0) return;
  said_ |= bit_of(status);
  char name[kMaxNameInLine];  // of a function, whatever it holds
  const std::size_t size = std::min(what.size(), sizeof name);
  std::transform(what.begin(), what.begin() + static_cast<std::ptrdiff_t>(size), name,
                 [](char c) { return static_cast<unsigned char>(c) < 0x20 ? '?' : c; });
  Message line;
  line.text({name, size})
      .text(": ")
      .text(text(status))
      .text(" (said once; later cases are counted in stats)");
  (void)say(line.view());
}

void Log::close() noexcept {
  delete file_;
  file_ = nullptr;
  folder_ = nullptr;
}

}  // namespace jitquill
