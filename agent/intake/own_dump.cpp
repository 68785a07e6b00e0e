#include "agent/intake/own_dump.hpp"

#include <fcntl.h>

#include <atomic>

#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_lines.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

using FileName = TextLine<32>;

// The path of a mapping: what follows the first '/'.
bool is_other_dump(std::string_view line, std::string_view file, std::string_view ours) noexcept {
  const std::size_t slash = line.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view path = without_first(line, slash);
  const bool is_ours = !ours.empty() && path.starts_with(ours);
  return path.ends_with(file) && !is_ours;
}

constinit std::atomic<bool> g_has_own_dump{false};

}  // namespace

void saw_own_dump() {
  count(Counter::other_dumps);
  if (g_has_own_dump.exchange(true, std::memory_order_relaxed)) return;
  remark(agent().wants().own_dump ? "the process writes a jitdump by itself, and ours has its code too "
                                    "(own_dump=take): of a function in both, perf takes the later stamp"
                                  : "the process writes a jitdump by itself: its code is left to that "
                                    "(own_dump=take has it in ours, too)");
}

bool is_left_to_own_dump() noexcept {
  return g_has_own_dump.load(std::memory_order_relaxed) && !agent().wants().own_dump;
}

bool is_in_both_dumps() noexcept {
  return g_has_own_dump.load(std::memory_order_relaxed) && agent().wants().own_dump;
}

bool names_own_dump(const char* maps, std::uint32_t pid, std::string_view ours) noexcept {
  const int descriptor = raw::open_at(AT_FDCWD, maps, O_RDONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return false;
  FileName file;
  file.text("/jit-").number(pid).text(".dump");
  char buffer[8192];
  const bool found = any_line(descriptor, buffer,
                              [&](std::string_view line) { return is_other_dump(line, file.view(), ours); });
  raw::close(descriptor);
  return found;
}

void look_for_own_dump() {
  const char* const folder = agent().output_folder();
  const bool is_new = !g_has_own_dump.load(std::memory_order_relaxed) &&
                      names_own_dump("/proc/self/maps", current_pid(), folder == nullptr ? "" : folder);
  if (is_new) saw_own_dump();
}

}  // namespace jitquill::intake
