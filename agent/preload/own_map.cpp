#include "agent/preload/own_map.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "agent/preload/agent_calls.hpp"

namespace jitquill::preload {
namespace {

constexpr std::string_view kStart = "/tmp/perf-";
constexpr std::string_view kEnd = ".map";

constinit char g_erlang_map[4096] = {};

bool is_own_map(const char* path) noexcept {
  if (std::strncmp(path, kStart.data(), kStart.size()) == 0) {
    const std::string_view rest(path + kStart.size());
    char number[20];
    const auto done = std::to_chars(number, number + sizeof number, ::getpid());
    const std::string_view pid(number, static_cast<std::size_t>(done.ptr - number));
    if (rest.size() == pid.size() + kEnd.size() && rest.starts_with(pid) && rest.ends_with(kEnd)) return true;
  }
  return g_erlang_map[0] != '\0' && std::strcmp(path, g_erlang_map) == 0;
}

}  // namespace

void note_map_file() noexcept {
  const char* const name = ::secure_getenv("ERL_SYM_MAP_FILE");
  if (name != nullptr && std::strlen(name) < sizeof g_erlang_map)
    std::memcpy(g_erlang_map, name, std::strlen(name) + 1);
}

void see_opened(const char* path, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY && is_own_map(path)) let_agent_read_map(path);
}

void see_opened(const char* path, const char* mode, std::FILE* stream) {
  if ((mode[0] == 'r' && std::strchr(mode, '+') == nullptr) || !is_own_map(path)) return;
  (void)std::setvbuf(stream, nullptr, _IOLBF, 0);
  let_agent_read_map(path);
}

}  // namespace jitquill::preload
