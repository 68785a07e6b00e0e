#include "agent/base/folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <cerrno>
#include <cstring>

#include "agent/base/high_descriptor.hpp"
#include "writer/bytes/decimal.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::folders {
namespace {

constexpr long kForbidsExecution = 0x0008;  // ST_NOEXEC in f_flags
constexpr long kFlagsAreValid = 0x0020;     // ST_VALID

// What a link is called until it replaces the older one.
class PassingName {
 public:
  explicit PassingName(std::uint32_t pid) noexcept {
    const Decimal number(pid);
    std::memcpy(text_, kStart, sizeof kStart - 1);
    (void)number.view().copy(text_ + sizeof kStart - 1, number.view().size());
  }
  const char* text() const noexcept { return text_; }

 private:
  static constexpr char kStart[] = ".jitquill-link-";
  char text_[sizeof kStart + 20] = {};
};

uid_t user() noexcept {
  return static_cast<uid_t>(raw::call(SYS_geteuid));
}

int judge(const struct stat& status, Identity& identity) noexcept {
  identity = {status.st_dev, status.st_ino};
  const bool is_private =
      S_ISDIR(status.st_mode) && (status.st_mode & 0777) == 0700 && status.st_uid == user();
  return is_private ? 0 : -EPERM;
}

// A link that a killed process of this number left in the way is taken away.
bool make_link(const char* target, int folder, const char* name) noexcept {
  if (raw::call(SYS_symlinkat, target, folder, name) == 0) return true;
  struct stat left {};
  if (raw::call(SYS_newfstatat, folder, name, &left, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(left.st_mode))
    return false;
  (void)raw::call(SYS_unlinkat, folder, name, 0);
  return raw::call(SYS_symlinkat, target, folder, name) == 0;
}

struct stat status_at(int folder, const char* name, long& error) noexcept {
  struct stat status {};
  error = raw::call(SYS_newfstatat, folder, name, &status, AT_SYMLINK_NOFOLLOW);
  return status;
}

}  // namespace

int make(const char* path) noexcept {
  return static_cast<int>(raw::call(SYS_mkdirat, AT_FDCWD, path, 0700));
}

int make_all(char* path) noexcept {
  int made = 0;
  for (char* end = path + 1; made == 0 && end[-1] != '\0'; ++end) {
    if (*end != '/' && *end != '\0') continue;
    const char after = *end;
    *end = '\0';
    made = make(path);
    *end = after;
    if (after != '\0' || made == -EEXIST) made = 0;  // only the last one must be there
  }
  return made;
}

int inspect(const char* path, Identity& identity) noexcept {
  long error = 0;
  const struct stat status = status_at(AT_FDCWD, path, error);
  return error != 0 ? static_cast<int>(error) : judge(status, identity);
}

bool belongs_to_us(const char* path) noexcept {
  long error = 0;
  const struct stat status = status_at(AT_FDCWD, path, error);
  return error == 0 && status.st_uid == user();
}

bool forbids_execution(const char* path) noexcept {
  struct statfs status {};
  if (raw::call(SYS_statfs, path, &status) != 0) return false;
  return (status.f_flags & kFlagsAreValid) != 0 && (status.f_flags & kForbidsExecution) != 0;
}

int open(const char* path, Identity& identity) noexcept {
  const int folder = raw::open_at(AT_FDCWD, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) return folder;
  struct stat status {};
  (void)raw::status_of(folder, status);
  const int judged = judge(status, identity);
  if (judged == 0) return folder;
  raw::close(folder);
  return judged;
}

int open_file(const char* path, const char* name) noexcept {
  Identity any;
  const int folder = open(path, any);
  if (folder < 0) return folder;
  const int opened = raw::open_at(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  raw::close(folder);
  return opened < 0 ? opened : moved_high(opened);
}

int open_same(const char* path, const Identity& identity) noexcept {
  Identity found;
  const int folder = open(path, found);
  if (folder < 0 || found == identity) return folder;
  raw::close(folder);
  return -ENOENT;
}

int create_file(const char* path, const Identity& identity, const char* name) noexcept {
  const int folder = open_same(path, identity);
  if (folder < 0) return folder;
  const int created = raw::open_at(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const int high = created < 0 ? created : moved_high(created);
  if (created >= 0 && high < 0) (void)raw::call(SYS_unlinkat, folder, name, 0);
  raw::close(folder);
  return high;
}

void remove_file(const char* path, const Identity& identity, const char* name) noexcept {
  const int folder = open_same(path, identity);
  if (folder < 0) return;
  (void)raw::call(SYS_unlinkat, folder, name, 0);
  raw::close(folder);
}

void link(const char* folder, const char* link_name, const char* target, std::uint32_t pid) noexcept {
  const int parent = raw::open_at(AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
  if (parent < 0) return;
  long error = 0;
  const struct stat before = status_at(parent, link_name, error);
  if (error == -ENOENT || (error == 0 && S_ISLNK(before.st_mode))) {
    const PassingName passing(pid);
    if (make_link(target, parent, passing.text()) &&
        raw::call(SYS_renameat2, parent, passing.text(), parent, link_name, 0) != 0)
      (void)raw::call(SYS_unlinkat, parent, passing.text(), 0);
  }
  raw::close(parent);
}

}  // namespace jitquill::folders
