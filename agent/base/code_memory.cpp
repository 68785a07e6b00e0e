#include "agent/base/code_memory.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <initializer_list>

#include "agent/base/text_pieces.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kMostOwn = 8;
constinit AddressRange g_own[kMostOwn]{};
constinit std::atomic<std::size_t> g_own_count{0};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> starts) noexcept {
  return std::any_of(starts.begin(), starts.end(), [&](auto start) { return text.starts_with(start); });
}

// The kernel shows paths of its own making where no file is that perf could open.
bool is_no_file(std::string_view path, bool is_shared) noexcept {
  if (path.empty()) return true;
  if (path.front() != '/') return !starts_with_any(path, {"[vdso]", "[vsyscall]", "[stack]", "[uprobes]"});
  if (is_dump(path)) return false;  // its first page is a sign for perf; a folder may be in /dev/shm
  if (starts_with_any(path, {"/memfd:", "/dev/zero", "/dev/shm/", "/anon_hugepage", "/SYSV"})) return true;
  // A JIT that writes its code by another mapping must share the file, as libffi and asmjit do; the loader
  // never does, and an update deletes libraries that are in use.
  return is_shared && path.ends_with(" (deleted)");
}

bool take_hex(std::string_view& text, char behind, std::uint64_t& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto done = std::from_chars(text.data(), end, value, 16);
  if (done.ec != std::errc() || done.ptr == end || *done.ptr != behind) return false;
  text = without_first(text, static_cast<std::size_t>(done.ptr - text.data()) + 1);
  return true;
}

}  // namespace

// start-end perms offset device inode      path
std::optional<AddressRange> code_range(std::string_view line) noexcept {
  AddressRange range{};
  if (!take_hex(line, '-', range.start) || !take_hex(line, ' ', range.end)) return std::nullopt;
  if (line.size() < 4 || line[2] != 'x') return std::nullopt;
  const bool is_shared = line[3] == 's';
  constexpr int kFieldsBeforePath = 4;
  for (int i = 0; i < kFieldsBeforePath; ++i) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return range;  // the inode is the last
    line = without_first(line, blank + 1);
  }
  line = without_first(line, line.find_first_not_of(' '));
  return is_no_file(line, is_shared) ? std::optional(range) : std::nullopt;
}

bool is_dump(std::string_view path) noexcept {
  constexpr std::string_view kFront = "jit-";
  constexpr std::string_view kEnd = ".dump";
  path = without_first(path, path.rfind('/') + 1);
  if (!path.starts_with(kFront) || !path.ends_with(kEnd)) return false;
  path = without_first(path, kFront.size());
  const auto digits = first(path, path.size() - std::min(path.size(), kEnd.size()));
  return !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void note_own_code(AddressRange range) noexcept {
  const std::size_t count = g_own_count.load(std::memory_order_relaxed);
  if (count == kMostOwn) return;
  g_own[count] = range;
  g_own_count.store(count + 1, std::memory_order_release);
}

std::uint64_t own_code_in(AddressRange range) noexcept {
  std::uint64_t bytes = 0;
  const std::size_t count = g_own_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) bytes += common_bytes(range, g_own[i]);
  return bytes;
}

}  // namespace jitquill
