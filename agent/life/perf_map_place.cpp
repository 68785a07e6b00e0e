#include "agent/life/perf_map_place.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string_view>

#include "agent/base/error_words.hpp"
#include "agent/base/high_descriptor.hpp"
#include "agent/base/start_time.hpp"
#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {

void PerfMapPlace::open(Log& log, Folder* instead) noexcept {
  log_ = &log;
  instead_ = instead;
}

int PerfMapPlace::create(const char* name) noexcept {
  std::size_t size = 0;
  for (const std::string_view part :
       {std::string_view(folder_), std::string_view("/"), std::string_view(name)}) {
    if (part.size() >= kPathSize - size) return -ENAMETOOLONG;
    size += part.copy(path_ + size, part.size());
  }
  path_[size] = '\0';
  const int descriptor = create_here();
  is_here_ = descriptor >= 0;
  if (is_here_) return descriptor;
  say_why(descriptor);
  return instead_ != nullptr ? instead_->create(name) : descriptor;
}

int PerfMapPlace::create_here() noexcept {
  const int descriptor = create_new();
  if (descriptor != -EEXIST) return descriptor;
  const Found found = look();
  if (found == Found::kOurs) return continue_ours();
  if (found != Found::kStale) return -EEXIST;
  take_away();
  return create_new();
}

int PerfMapPlace::create_new() noexcept {
  const int descriptor =
      raw::open_at(AT_FDCWD, path_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return descriptor;
  struct stat status {};
  (void)raw::status_of(descriptor, status);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  const int high = moved_high(descriptor);
  if (high < 0) take_away();
  return high;
}

// After a stop and a start: what was announced before is still in it, and perf wants all of it.
int PerfMapPlace::continue_ours() noexcept {
  const int descriptor = raw::open_at(AT_FDCWD, path_, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  struct stat status {};
  if (descriptor < 0) return descriptor;
  if (raw::status_of(descriptor, status) == 0 && is_ours(status)) return moved_high(descriptor);
  raw::close(descriptor);
  return -EEXIST;
}

bool PerfMapPlace::is_ours(const struct stat& status) const noexcept {
  return status.st_dev == device_ && status.st_ino == inode_;
}

PerfMapPlace::Found PerfMapPlace::look() const noexcept {
  struct stat status {};
  if (raw::call(SYS_newfstatat, AT_FDCWD, path_, &status, AT_SYMLINK_NOFOLLOW) != 0) return Found::kNothing;
  const auto user = static_cast<uid_t>(raw::call(SYS_geteuid));
  if (!S_ISREG(status.st_mode) || status.st_uid != user || status.st_nlink != 1) return Found::kForeign;
  if (is_ours(status)) return Found::kOurs;
  return status.st_mtim.tv_sec < process_start_s() ? Found::kStale : Found::kYoung;
}

void PerfMapPlace::say_why(int error) noexcept {
  static constexpr const char* kWhy[] = {
      "it comes and goes",                                        // kNothing
      "it cannot be opened again",                                // kOurs
      "an earlier process left it, and it cannot be taken away",  // kStale
      "it was made since this process started, so its runtime writes one, or the program did that became "
      "this "
      "one by exec",                                                    // kYoung
      "it is there and is no plain file of this user's with one name",  // kForeign
  };
  static_assert(std::size(kWhy) == static_cast<std::size_t>(Found::kForeign) + 1);
  Message line;
  line.text(path_).text(" is not written: ");
  line.text(error == -EEXIST ? kWhy[static_cast<std::size_t>(look())] : error_words(error));
  line.text("; the map is in the output folder only (perfmap_at=dir asks for that)");
  (void)log_->say(line.view());
}

void PerfMapPlace::take_away() noexcept {
  (void)raw::call(SYS_unlinkat, AT_FDCWD, path_, 0);
  inode_ = 0;  // the next file's, perhaps
}

// A runtime may have written a map of its own into it.
bool PerfMapPlace::remove_empty(const char* /*name*/) noexcept {
  struct stat status {};
  if (!is_here_ || raw::call(SYS_newfstatat, AT_FDCWD, path_, &status, AT_SYMLINK_NOFOLLOW) != 0)
    return false;
  if (!is_ours(status) || status.st_size != 0) return false;
  take_away();
  return true;
}

void PerfMapPlace::remove(const char* name) noexcept {
  if (is_here_) return take_away();  // path_ is the name's still
  if (instead_ != nullptr) instead_->remove(name);
}

}  // namespace jitquill
