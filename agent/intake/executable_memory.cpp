#include "agent/intake/executable_memory.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "agent/base/text_line.hpp"
#include "agent/intake/gdb/gdb.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/life/agent.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

// "jit-<digits>.dump": perf finds such files by this mapping, and so do we.
bool is_dump(std::string_view path) noexcept {
  constexpr std::string_view kFront = "jit-";
  constexpr std::string_view kEnd = ".dump";
  path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(kFront) || !path.ends_with(kEnd)) return false;
  const auto digits =
      path.substr(kFront.size(), path.size() - std::min(path.size(), kFront.size() + kEnd.size()));
  return !digits.empty() &&
         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_dump(int file) noexcept {
  TextLine<64> link;
  char path[4096];
  link.text("/proc/self/fd/").number(static_cast<std::uint64_t>(file)).end();
  char name[64] = {};
  link.view().copy(name, link.view().size() - 1);
  const long size = raw::call(SYS_readlinkat, AT_FDCWD, name, path, sizeof path);
  return size > 0 && is_dump(std::string_view(path, static_cast<std::size_t>(size)));
}

}  // namespace

void made_executable(const void* address, std::size_t size, int file) {
  const std::uint32_t wanted = agent().wanted_intakes();
  if (wanted == 0 || !agent().wants_code()) return;
  if (file >= 0) {
    const bool leaves = guest_call([&] { return (wanted & bit(Id::gdb)) != 0 && is_dump(file); });
    if (leaves) gdb::leave_to_other_writer();
    return;
  }
  look_around();
  (void)under_intake_lock([&] { gdb::became_final(reinterpret_cast<std::uint64_t>(address), size); });
}

}  // namespace jitquill::intake
