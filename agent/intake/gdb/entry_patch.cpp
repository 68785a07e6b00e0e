#include "agent/intake/gdb/entry_patch.hpp"

#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <atomic>
#include <cstring>

#include "agent/base/safe_copy.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::gdb {
namespace {

constexpr std::uint64_t kAlignment = 16;
constexpr std::uint64_t kPageSize = 4096;
constexpr std::size_t kReadSize = 2 * kAlignment;
// jmp *0(%rip), and where to.
constexpr std::uint8_t kJump[] = {0xFF, 0x25, 0, 0, 0, 0};
constexpr std::size_t kJumpSize = sizeof kJump + sizeof(void*);

bool protect(std::uint64_t function, int protection) noexcept {
  return raw::call(SYS_mprotect, function & ~(kPageSize - 1), kPageSize, static_cast<long>(protection)) == 0;
}

// The entry's first byte is a whole instruction, so its thread is in front of it or gone: then eight bytes in
// one store are safe beside other threads, once what they lead to is there.
void write(std::uint64_t function, void (*to)()) noexcept {
  std::uint8_t bytes[kJumpSize];
  std::memcpy(bytes, kJump, sizeof kJump);
  std::memcpy(bytes + sizeof kJump, &to, sizeof to);
  std::uint64_t front;
  std::memcpy(&front, bytes, sizeof front);
  std::memcpy(reinterpret_cast<void*>(function + sizeof front), bytes + sizeof front,
              sizeof bytes - sizeof front);
  std::atomic_ref(*reinterpret_cast<std::uint64_t*>(function)).store(front, std::memory_order_seq_cst);
}

}  // namespace

bool patch_entry(std::uint64_t function, void (*to)(), const symfile::Plugin& plugin) noexcept {
  std::uint8_t code[kReadSize];
  if (function % kAlignment != 0) return false;
  if (!safe_copy({reinterpret_cast<const std::uint8_t*>(function), sizeof code}, code, 0)) return false;
  const symfile::EntryCode entry = plugin.read_entry(code, sizeof code);
  if (entry.room < kJumpSize) return false;
  // A thread may be between two instructions, where the jump would be cut in half.
  if (entry.instructions != 1 && __libc_single_threaded == 0) return false;
  if (!protect(function, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;  // SELinux, PR_SET_MDWE
  write(function, to);
  (void)protect(function, PROT_READ | PROT_EXEC);
  return true;
}

bool has_jump(std::uint64_t function) noexcept {
  std::uint8_t code[sizeof kJump];
  return safe_copy({reinterpret_cast<const std::uint8_t*>(function), sizeof code}, code, 0) &&
         std::memcmp(code, kJump, sizeof kJump) == 0;
}

}  // namespace jitquill::gdb
