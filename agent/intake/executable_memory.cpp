#include "agent/intake/executable_memory.hpp"

#include <fcntl.h>

#include <cstdint>
#include <string_view>

#include "agent/base/code_memory.hpp"
#include "agent/base/text_line.hpp"
#include "agent/intake/gdb/gdb.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/life/agent.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

bool is_dump(int file) noexcept {
  TextLine<64> link;
  char path[4096];
  link.text("/proc/self/fd/").number(static_cast<std::uint64_t>(file)).end();
  char name[64] = {};
  link.view().copy(name, link.view().size() - 1);
  const long size = raw::call(SYS_readlinkat, AT_FDCWD, name, path, sizeof path);
  return size > 0 && jitquill::is_dump(std::string_view(path, static_cast<std::size_t>(size)));
}

}  // namespace

void made_executable(const void* address, std::size_t size, int file) {
  if (agent().wants().intakes == 0 || !agent().wants().code) return;
  if (file >= 0) {
    if (guest_call([&] { return is_dump(file); })) saw_own_dump();
    return;
  }
  look_around_in_jit();
  (void)under_intake_lock([&] { gdb::became_final(reinterpret_cast<std::uint64_t>(address), size); });
}

}  // namespace jitquill::intake
