// A published object: its functions, its image, its place in the registry's list.
//
// Context   one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "writer/bytes/bytes.hpp"
#include "writer/gdbobj/files.hpp"
#include "writer/gdbobj/image.hpp"
#include "writer/sink/object_registry.hpp"

namespace jitquill::gdbobj {

struct Object {
  ObjectEntry entry;
  Object* next = nullptr;  // of its level
  Object* previous = nullptr;
  std::uint32_t level = 0;
  std::uint32_t count = 0;  // members, erased ones included
  std::uint32_t live = 0;
  ImageTables tables;
  std::uint8_t* image = nullptr;

  // Behind it. An erased member has no function.
  std::span<Member> members() noexcept { return {reinterpret_cast<Member*>(this + 1), count}; }

  // With `count` empty members and no image; null: no memory.
  static Object* make(std::size_t count) noexcept;
  static void destroy(Object* object) noexcept;

  // Sorts the members and makes the image of them; `scratch` is cleared. False: no memory, and no function
  // was touched. Otherwise this is their object from now on.
  bool finish(Bytes& scratch, Files& files) noexcept;
  // May not be published meanwhile. The function has no object afterwards.
  void erase(Function& function) noexcept;
};

}  // namespace jitquill::gdbobj
