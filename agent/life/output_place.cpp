#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <algorithm>

#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint32_t kMostFolders = 10000;  // <exe>-<pid>.N of one dir
constexpr rlim_t kHighest = 1024;  // a higher number would make the kernel grow the table by megabytes
constexpr int kSpare = 16;

int make_folder(const char* path) noexcept {
  return static_cast<int>(raw::call(SYS_mkdirat, AT_FDCWD, path, 0700));
}

// Makes the folders above and at `path`, as far as they are missing.
int make_folders(const char* path) noexcept {
  char part[OutputPlace::kPathSize];
  const std::string_view whole = path;
  for (std::size_t end = 1; end <= whole.size(); ++end) {
    if (end != whole.size() && whole[end] != '/') continue;
    part[whole.copy(part, end)] = '\0';
    const int made = make_folder(part);
    if (made != 0 && made != -EEXIST && end == whole.size()) return made;
  }
  return 0;
}

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' || c == '_' ||
         c == '-';
}

int moved_high(int descriptor) noexcept {
  rlimit limit{};
  if (raw::call(SYS_prlimit64, 0, RLIMIT_NOFILE, nullptr, &limit) != 0) return descriptor;
  const auto top = static_cast<int>(std::min(limit.rlim_cur, kHighest));
  const long high = raw::call(SYS_fcntl, descriptor, F_DUPFD_CLOEXEC, std::max(top - kSpare, 3));
  if (high < 0) return descriptor;  // none free up there
  raw::close(descriptor);
  return static_cast<int>(high);
}

}  // namespace

void OutputPlace::note_start() noexcept {
  const long size = raw::call(SYS_getcwd, start_dir_, sizeof start_dir_);
  if (size <= 0 || start_dir_[0] != '/') start_dir_[0] = '\0';  // unreachable: "(unreachable)/..."
  char link[kPathSize];
  const long length = raw::call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", link, sizeof link);
  std::string_view name = length > 0 ? std::string_view(link, static_cast<std::size_t>(length)) : "unknown";
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
  name = name.substr(0, sizeof executable_ - 1);
  std::transform(name.begin(), name.end(), executable_, [](char c) { return is_plain(c) ? c : '_'; });
}

int OutputPlace::open(std::string_view dir, std::uint32_t pid) noexcept {
  if (!dir.starts_with('/') && start_dir_[0] == '\0') return -ENOENT;
  TextLine<kPathSize> parent;
  if (!dir.starts_with('/')) parent.text(start_dir_).text("/");
  parent.text(dir);
  char path[kPathSize];
  if (parent.view().size() + sizeof executable_ + 32 > kPathSize) return -ENAMETOOLONG;
  path[parent.view().copy(path, kPathSize - 1)] = '\0';
  if (const int made = make_folders(path); made != 0) return made;

  for (std::uint32_t n = 0; n < kMostFolders; ++n) {
    TextLine<kPathSize> folder;
    folder.text(parent.view()).text("/").text(executable_).text("-").number(pid);
    if (n != 0) folder.text(".").number(n);
    path[folder.view().copy(path, kPathSize - 1)] = '\0';
    const int made = make_folder(path);
    if (made == -EEXIST) continue;
    if (made == 0) std::copy_n(path, folder.view().size() + 1, path_);
    return made;
  }
  return -EEXIST;
}

int OutputPlace::create(const char* name) noexcept {
  TextLine<kPathSize> file;
  file.text(path_).text("/").text(name);
  char path[kPathSize];
  path[file.view().copy(path, kPathSize - 1)] = '\0';
  const int descriptor =
      raw::open_at(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  return descriptor < 0 ? descriptor : moved_high(descriptor);
}

}  // namespace jitquill
