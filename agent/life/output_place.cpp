#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <algorithm>
#include <charconv>

#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint32_t kMostFolders = 10000;  // <exe>-<pid>.N of one dir
constexpr rlim_t kHighest = 1024;  // a higher number would make the kernel grow the table by megabytes
constexpr int kSpare = 16;
constexpr int kStandardError = 2;

int make_folder(const char* path) noexcept {
  return static_cast<int>(raw::call(SYS_mkdirat, AT_FDCWD, path, 0700));
}

// Makes the folders above and at `path`, as far as they are missing. `path` is the same again afterwards.
int make_folders(char* path) noexcept {
  int made = 0;
  for (char* end = path + 1; made == 0 && end[-1] != '\0'; ++end) {
    if (*end != '/' && *end != '\0') continue;
    const char after = *end;
    *end = '\0';
    made = make_folder(path);
    *end = after;
    if (after != '\0' || made == -EEXIST) made = 0;  // only the last one must be there
  }
  return made;
}

class Decimal {
 public:
  explicit Decimal(std::uint32_t value) noexcept
      : size_(static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, value).ptr -
                                       digits_)) {}
  std::string_view view() const noexcept { return {digits_, size_}; }

 private:
  char digits_[10];
  std::size_t size_;
};

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' ||
         c == '-';
}

int moved_high(int descriptor) noexcept {
  rlimit limit{};
  (void)raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit);
  const auto top = static_cast<int>(std::min(limit.rlim_cur, kHighest));
  const long high = raw::call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, std::max(top - kSpare, 3));
  if (high < 0 && descriptor > kStandardError) return descriptor;  // none free up there
  raw::close(descriptor);  // what the host prints must not land in our file
  return static_cast<int>(high);
}

}  // namespace

// Puts `parts` behind the first `size` bytes. False: longer than a path may be.
bool OutputPlace::compose(std::size_t size, std::initializer_list<std::string_view> parts) noexcept {
  for (const std::string_view part : parts) {
    if (part.size() >= kPathSize - size) return false;
    size += part.copy(composed_ + size, part.size());
  }
  composed_[size] = '\0';
  return true;
}

void OutputPlace::note_start() noexcept {
  const long size = raw::call(SYS_getcwd, start_dir_, sizeof start_dir_);
  if (size <= 0 || start_dir_[0] != '/') start_dir_[0] = '\0';  // unreachable: "(unreachable)/..."
  const long length = raw::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", composed_, sizeof composed_);
  std::string_view name =
      length > 0 ? std::string_view(composed_, static_cast<std::size_t>(length)) : "unknown";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  name = name.substr(0, sizeof executable_ - 1);
  std::transform(name.begin(), name.end(), executable_, [](char c) { return is_plain(c) ? c : '_'; });
}

// A reader without the lock sees the old path, none, or the new one.
void OutputPlace::publish() noexcept {
  forget();
  const std::string_view path = composed_;
  std::copy_n(composed_ + 1, path.size(), path_ + 1);  // with its NUL
  std::atomic_ref(path_[0]).store(path[0], std::memory_order_release);
}

void OutputPlace::forget() noexcept {
  std::atomic_ref(path_[0]).store('\0', std::memory_order_release);
}

// Hosts start and stop again and again: they do not try all the numbers each time.
std::uint32_t OutputPlace::first_number(std::string_view parent, std::uint32_t pid) const noexcept {
  const std::string_view newest = path();
  const bool is_same = pid == pid_ && newest.starts_with(parent) && newest.rfind('/') == parent.size();
  return is_same ? next_number_ : 0;
}

int OutputPlace::open(std::string_view dir, std::uint32_t pid) noexcept {
  const bool is_absolute = dir.starts_with('/');
  if (!is_absolute && start_dir_[0] == '\0') return -ENOENT;
  if (!compose(0, {is_absolute ? "" : start_dir_, is_absolute ? "" : "/", dir})) return -ENAMETOOLONG;
  if (const int made = make_folders(composed_); made != 0) return made;

  const std::string_view parent = composed_;  // stays there
  for (std::uint32_t n = first_number(parent, pid); n < kMostFolders; ++n) {
    const Decimal number(n);
    if (!compose(parent.size(), {"/", executable_, "-", Decimal(pid).view(), n == 0 ? "" : ".",
                                 n == 0 ? "" : number.view()}))
      return -ENAMETOOLONG;
    const int made = make_folder(composed_);
    if (made == -EEXIST) continue;
    if (made != 0) return made;
    publish();
    pid_ = pid;
    next_number_ = n + 1;
    return 0;
  }
  return -EEXIST;
}

int OutputPlace::create(const char* name) noexcept {
  if (!compose(0, {path(), "/", name})) return -ENAMETOOLONG;
  const int descriptor =
      raw::open_at(AT_FDCWD, composed_, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return descriptor;
  const int high = moved_high(descriptor);
  if (high < 0) remove(name);
  return high;
}

void OutputPlace::remove(const char* name) noexcept {
  if (compose(0, {path(), "/", name})) (void)raw::call(SYS_unlinkat, AT_FDCWD, composed_, 0);
}

}  // namespace jitquill
