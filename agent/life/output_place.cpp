#include "agent/life/output_place.hpp"

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/base/arena.hpp"
#include "agent/base/error_words.hpp"
#include "agent/base/fixed_text.hpp"
#include "agent/base/high_descriptor.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/life/dir_template.hpp"
#include "writer/bytes/decimal.hpp"
#include "writer/bytes/growth.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::uint32_t kMostFolders = 100000;  // <command>-<pid>.N of one dir
constexpr int kNewFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr char kNewest[] = "latest";

const char* text_of(int error) noexcept {
  if (error == -ENOEXEC) return "mounted noexec, so that perf would not find the files";
  return error_words(error);
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

// Makes the folder that `composed_` names. It must be ours still when it is looked at: whoever may write to
// the folder above could have put another there. The path gets memory of its own, which stays: the host may
// have been handed an earlier one.
int OutputPlace::make_and_publish(std::size_t parent_size, std::uint32_t pid) noexcept {
  const std::size_t size = std::strlen(composed_) + 1;
  auto* const path = static_cast<char*>(arena().allocate(size));
  if (path == nullptr) return -ENOMEM;
  int made = folders::make(composed_);
  if (made == 0) made = folders::inspect(composed_, identity_);
  if (made != 0) {
    arena().free(path);
    return made;
  }
  std::memcpy(path, composed_, size);
  path_.store(path, std::memory_order_release);
  pid_ = pid;
  budget_.begin(Budget::kUnlimited);
  tell_run(path, size);
  composed_[parent_size] = '\0';
  folders::link(composed_, kNewest, path + parent_size + 1, pid);
  return 0;
}

// The path and its NUL, in one write at the end of a file that must be there already: processes of one run do
// so at the same time, and one that outlives the run must not leave anything.
void OutputPlace::tell_run(const char* path, std::size_t size) const noexcept {
  if (start_.run_list()[0] == '\0') return;
  const int list =
      raw::open_at(AT_FDCWD, start_.run_list(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
  if (list < 0) return;
  const long written = raw::write(list, path, size);
  if (written < 0) take_caused_signal(written);
  raw::close(list);
}

void OutputPlace::forget() noexcept {
  path_.store("", std::memory_order_release);
}

// Hosts start and stop again and again: they do not try all the numbers each time.
std::uint32_t OutputPlace::first_number(std::string_view parent, std::uint32_t pid) const noexcept {
  const std::string_view newest = path();
  const bool is_same = pid == pid_ && newest.starts_with(parent) && newest.rfind('/') == parent.size();
  return is_same ? next_number_ : 0;
}

// Makes this process's folder in the one that `composed_` begins with.
int OutputPlace::open_in(std::size_t parent_size, std::uint32_t pid, Noexec noexec) noexcept {
  composed_[parent_size] = '\0';
  if (noexec == Noexec::kRefused && folders::forbids_execution(composed_)) return -ENOEXEC;
  for (std::uint32_t n = first_number({composed_, parent_size}, pid); n < kMostFolders; ++n) {
    const Decimal number(n);
    if (!compose(parent_size, {"/", start_.command(), "-", Decimal(pid).view(), n == 0 ? "" : ".",
                               n == 0 ? "" : number.view()}))
      return -ENAMETOOLONG;
    const int made = make_and_publish(parent_size, pid);
    if (made == -EEXIST) continue;
    if (made == 0) next_number_ = n + 1;
    return made;
  }
  return -EEXIST;
}

int OutputPlace::compose_dir(std::string_view dir, std::uint32_t pid) noexcept {
  const bool is_absolute = dir.starts_with('/');
  if (!is_absolute && start_.folder().empty()) return -ENOENT;
  if (!compose(0, {is_absolute ? "" : start_.folder(), is_absolute ? "" : "/"})) return -ENAMETOOLONG;
  const Decimal number(pid);
  const dir_template::Values values{.pid = number.view(), .time = start_.time(), .command = start_.command()};
  std::size_t size = std::strlen(composed_);
  const bool fits = dir_template::expand(dir, values, [&](std::string_view piece) {
    if (!compose(size, {piece})) return false;
    size += piece.size();
    return true;
  });
  return fits ? 0 : -ENAMETOOLONG;
}

const char* OutputPlace::expand(std::string_view path, std::uint32_t pid) noexcept {
  return compose_dir(path, pid) == 0 ? composed_ : "";
}

int OutputPlace::open_below_dir(std::string_view dir, std::uint32_t pid, Noexec noexec) noexcept {
  if (const int composed = compose_dir(dir, pid); composed != 0) return composed;
  if (const int made = folders::make_all(composed_); made != 0) return made;
  return open_in(std::strlen(composed_), pid, noexec);
}

// `place`: pieces of a path whose last folder is to be ours alone.
int OutputPlace::open_below_private(std::initializer_list<std::string_view> place,
                                    std::uint32_t pid) noexcept {
  if (place.begin()->empty()) return -ENOENT;
  if (!compose(0, place)) return -ENAMETOOLONG;
  const int made = folders::make(composed_);
  if (made != 0 && made != -EEXIST) return made;
  folders::Identity any;
  if (const int judged = folders::inspect(composed_, any); judged != 0) return judged;
  return open_in(std::strlen(composed_), pid, Noexec::kRefused);
}

int OutputPlace::open_below_privates(std::uint32_t pid) noexcept {
  if (open_below_private({start_.runtime_dir(), "/jitquill"}, pid) == 0) return 0;
  if (!start_.home().empty() && compose(0, {start_.home()}) && folders::belongs_to_us(composed_) &&
      compose(0, {start_.home(), "/.cache"}))
    (void)folders::make(composed_);
  if (open_below_private({start_.home(), "/.cache/jitquill"}, pid) == 0) return 0;
  const Decimal user(static_cast<std::uint64_t>(raw::call(SYS_geteuid)));
  return open_below_private({"/tmp/jitquill-", user.view()}, pid);
}

int OutputPlace::open(std::string_view dir, std::uint32_t pid) noexcept {
  trouble_ = nullptr;
  const int opened = open_below_dir(dir, pid, Noexec::kRefused);
  if (opened == 0) return 0;
  trouble_ = text_of(opened);
  if (opened == -ENOMEM) return opened;  // ours: another place would not help
  if (open_below_privates(pid) == 0) return 0;
  // Nowhere may files be mapped executable: better files that perf must be led to than none.
  if (opened != -ENOEXEC) return opened;
  const int taken = open_below_dir(dir, pid, Noexec::kTaken);
  trouble_ = taken == 0 ? nullptr : text_of(taken);  // that they are noexec the files say themselves
  return taken;
}

namespace {

// Of a file in a folder below ours. Nobody else can have put something there: ours is 0700.
void make_folder_of(int folder, std::string_view name) noexcept {
  FixedText<32> path;
  const std::size_t end = name.find('/');
  if (end != name.npos && path.set(first(name, end)))
    (void)raw::call(SYS_mkdirat, folder, path.c_str(), 0700);
}

}  // namespace

int OutputPlace::create(const char* name) noexcept {
  const int folder = open_folder();
  if (folder < 0) return folder;
  make_folder_of(folder, name);
  int descriptor = raw::open_at(folder, name, kNewFile, 0600);
  raw::close(folder);
  // The last descriptor that the host may have: the folder had it. It was looked at a moment ago.
  if (descriptor == -EMFILE && compose(0, {path(), "/", name}))
    descriptor = raw::open_at(AT_FDCWD, composed_, kNewFile, 0600);
  if (descriptor < 0) return descriptor;
  const int high = moved_high(descriptor);
  if (high < 0) remove(name);
  return high;
}

void OutputPlace::remove(const char* name) noexcept {
  const int folder = open_folder();
  if (folder < 0) return;
  (void)raw::call(SYS_unlinkat, folder, name, 0);
  raw::close(folder);
}

}  // namespace jitquill
