#include "agent/intake/detour.hpp"

#include <sys/mman.h>
#include <sys/single_threaded.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "agent/base/code_memory.hpp"
#include "agent/base/prologue.hpp"
#include "agent/base/safe_copy.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

constexpr std::uint64_t kPageSize = 4096;
constexpr std::uint8_t kBranchTarget[] = {0xF3, 0x0F, 0x1E, 0xFA};  // endbr64: stays where it is
// | mov imm64, %rax | jmp *%rax |: no argument is in rax but for functions with a variable number of them.
constexpr std::size_t kJumpSize = 12;
// | jmp *0(%rip) | where to |: changes no register in the middle of a function.
constexpr std::uint8_t kJumpBack[] = {0xFF, 0x25, 0, 0, 0, 0};
constexpr std::size_t kLongestPrologue = 32;

bool protect(std::uint64_t from, std::size_t size, int protection) noexcept {
  const std::uint64_t start = from & ~(kPageSize - 1);
  return raw::call(SYS_mprotect, start, from + size - start, static_cast<long>(protection)) == 0;
}

// The prologue and the jump behind it, in a page of its own; 0 = no memory.
std::uint64_t keep_way_in(std::span<const std::uint8_t> prologue, std::uint64_t rest) noexcept {
  const long mapped = raw::map(kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(mapped)) return 0;
  auto* at = reinterpret_cast<std::uint8_t*>(mapped);
  at = std::copy(prologue.begin(), prologue.end(), at);
  at = std::copy(std::begin(kJumpBack), std::end(kJumpBack), at);
  std::memcpy(at, &rest, sizeof rest);
  const auto page = static_cast<std::uint64_t>(mapped);
  if (protect(page, kPageSize, PROT_READ | PROT_EXEC)) return page;
  raw::unmap(reinterpret_cast<void*>(mapped), kPageSize);
  return 0;
}

void put_jump(std::uint64_t at, std::uint64_t to) noexcept {
  std::uint8_t jump[kJumpSize] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0};
  std::memcpy(jump + 2, &to, sizeof to);
  std::memcpy(reinterpret_cast<void*>(at), jump, sizeof jump);
}

}  // namespace

bool detour(std::uint64_t function, std::uint64_t to, std::uint64_t& original) noexcept {
  if (__libc_single_threaded == 0) return false;
  std::uint8_t code[kLongestPrologue];
  if (!safe_copy({reinterpret_cast<const std::uint8_t*>(function), sizeof code}, code, 0)) return false;
  std::span<const std::uint8_t> prologue(code);
  if (std::equal(std::begin(kBranchTarget), std::end(kBranchTarget), code)) {
    function += sizeof kBranchTarget;
    prologue = prologue.subspan(sizeof kBranchTarget);
  }
  prologue = prologue.first(movable_prologue(prologue, kJumpSize));
  if (prologue.empty()) return false;
  const std::uint64_t way_in = keep_way_in(prologue, function + prologue.size());
  if (way_in == 0) return false;
  if (!protect(function, kJumpSize, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;  // SELinux, MDWE
  note_own_code({way_in, way_in + kPageSize});
  original = way_in;
  put_jump(function, to);
  (void)protect(function, kJumpSize, PROT_READ | PROT_EXEC);
  return true;
}

}  // namespace jitquill::intake
