#include "writer/gdbobj/object.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace jitquill::gdbobj {

Object* Object::make(std::size_t count) noexcept {
  void* const block = ::operator new(sizeof(Object) + count * sizeof(Member), std::nothrow);
  if (block == nullptr) return nullptr;
  auto* const object = new (block) Object;
  object->count = object->live = static_cast<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) new (reinterpret_cast<Member*>(object + 1) + i) Member;
  return object;
}

void Object::destroy(Object* object) noexcept {
  ::operator delete(object->image);
  ::operator delete(object);
}

bool Object::finish(Bytes& scratch, Files& files) noexcept {
  std::ranges::sort(members(), {}, [](const Member& member) { return member.function->address(); });
  scratch.clear();
  tables = put_image(scratch, members(), files);
  if (scratch.failed()) return false;
  image = static_cast<std::uint8_t*>(::operator new(scratch.size(), std::nothrow));
  if (image == nullptr) return false;
  std::memcpy(image, scratch.view().data(), scratch.size());
  entry = {.next = nullptr, .previous = nullptr, .image = image, .image_size = scratch.size()};
  for (std::uint32_t i = 0; i < count; ++i) {
    members()[i].function->object = this;
    members()[i].function->index = i;
  }
  return true;
}

void Object::erase(Function& function) noexcept {
  gdbobj::erase(image, tables, members(), function.index);
  members()[function.index].function = nullptr;
  function.object = nullptr;
  --live;
}

}  // namespace jitquill::gdbobj
