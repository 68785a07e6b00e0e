#include "agent/base/demangler.hpp"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "writer/bytes/raw_calls.hpp"

// In no header, but part of libstdc++'s binary interface (CXXABI_1.3). 0: all of the name was told.
extern "C" int __gcclibcxx_demangle_callback(const char* mangled,
                                             void (*tell)(const char* text, std::size_t size, void* to),
                                             void* to);

namespace jitquill {
namespace {

constexpr std::size_t kMostMangled = 1024;  // libstdc++ takes no longer one
constexpr std::size_t kGuardSize = 4096;
// For a name of that length: 2,048 components of 32 bytes, up to 1,024 * 1,024 pairs of 16 bytes of templates
// and scopes, and 2,048 calls inside each other.
constexpr std::size_t kSize = std::size_t{24} << 20;

}  // namespace

struct Demangler::Room {
  ucontext_t caller;
  ucontext_t own;
  char mangled[kMostMangled + 1];
  char text[kMostText];
  std::size_t size;
  bool is_whole;
};

Demangler::~Demangler() {
  if (room_ != nullptr) raw::unmap(reinterpret_cast<std::uint8_t*>(room_ + 1) - kSize, kSize);
}

bool Demangler::make_room() noexcept {
  if (room_ != nullptr) return true;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
  const long mapped = raw::map(kSize, PROT_READ | PROT_WRITE, kFlags, -1);
  if (raw::is_error(mapped)) return false;
  auto* const low = reinterpret_cast<std::uint8_t*>(mapped);
  (void)raw::call(SYS_mprotect, low, kGuardSize, PROT_NONE);
  static_assert(sizeof(Room) % alignof(Room) == 0 && kSize % alignof(Room) == 0);
  room_ = new (low + kSize - sizeof(Room)) Room;
  return true;
}

// Where there is enough of it the rest is not waited for: nothing on that stack has to be undone.
void Demangler::take(const char* text, std::size_t size, void* to) noexcept {
  Room& room = *static_cast<Room*>(to);
  const std::size_t kept = std::min(size, kMostText - room.size);
  std::memcpy(room.text + room.size, text, kept);
  room.size += kept;
  if (room.size < kMostText) return;
  room.is_whole = true;
  (void)setcontext(&room.caller);
}

void Demangler::run(unsigned low, unsigned high) noexcept {
  auto& room = *reinterpret_cast<Room*>(std::uintptr_t{high} << 32 | low);
  room.is_whole = __gcclibcxx_demangle_callback(room.mangled, take, &room) == 0;
}

std::string_view Demangler::text_of(std::string_view name) noexcept {
  if (!name.starts_with("_Z") || name.size() > kMostMangled || !make_room()) return name;
  Room& room = *room_;
  std::memcpy(room.mangled, name.data(), name.size());
  room.mangled[name.size()] = '\0';
  room.size = 0;
  room.is_whole = false;
  if (getcontext(&room.own) != 0) return name;
  auto* const top = reinterpret_cast<std::uint8_t*>(&room);
  room.own.uc_stack.ss_sp = top + sizeof room - kSize + kGuardSize;
  room.own.uc_stack.ss_size = kSize - kGuardSize - sizeof room;
  room.own.uc_link = &room.caller;
  const auto address = reinterpret_cast<std::uintptr_t>(&room);
  // Of its arguments only ints are promised to arrive.
  makecontext(&room.own, reinterpret_cast<void (*)()>(&run), 2, static_cast<unsigned>(address),
              static_cast<unsigned>(address >> 32));
  if (swapcontext(&room.caller, &room.own) != 0 || !room.is_whole || room.size == 0) return name;
  return {room.text, room.size};
}

}  // namespace jitquill
