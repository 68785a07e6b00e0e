#include "writer/gdbobj/objects.hpp"

namespace jitquill::gdbobj {

void Objects::link(Object& object) noexcept {
  object.level = 0;
  for (std::size_t most = 1; object.live > most && object.level + 1 < kLevels; most *= kMerged)
    ++object.level;
  if (object.entry.image_size > kMostMergedSize) object.level = kLevels - 1;
  Level& level = levels_[object.level];
  object.previous = nullptr;
  object.next = level.first;
  if (level.first != nullptr) level.first->previous = &object;
  level.first = &object;
  ++level.count;
}

void Objects::unlink(Object& object) noexcept {
  Level& level = levels_[object.level];
  (object.previous != nullptr ? object.previous->next : level.first) = object.next;
  if (object.next != nullptr) object.next->previous = object.previous;
  --level.count;
}

void Objects::publish(Object& object) noexcept {
  link(object);
  registry_->publish(object.entry);
}

std::uint64_t Objects::add(Function& function, Files& files) noexcept {
  Object* const object = Object::make(1);
  if (object == nullptr) return 0;
  object->members()[0].function = &function;
  if (!object->finish(scratch_, files)) {
    Object::destroy(object);
    return 0;
  }
  publish(*object);
  const std::uint64_t size = object->entry.image_size;
  merge_full_levels(0, files);
  return size;
}

// Without memory the level stays as it is, and the next function tries again.
void Objects::merge_full_levels(std::uint32_t level, Files& files) noexcept {
  for (; level + 1 < kLevels; ++level) {
    if (levels_[level].count >= kMerged && !merge(levels_[level], files)) return;
  }
}

namespace {

// Gives the functions that live in `from` to the members from `to` on; returns the next free one.
Member* gather(Object& from, Member* to) noexcept {
  for (const Member& member : from.members()) {
    if (member.function != nullptr) (to++)->function = member.function;
  }
  return to;
}

}  // namespace

// The new object first: so no function is unknown to a debugger at any moment.
bool Objects::merge(Level& level, Files& files) noexcept {
  std::size_t live = 0;
  for (const Object* each = level.first; each != nullptr; each = each->next) live += each->live;
  Object* const merged = Object::make(live);
  if (merged == nullptr) return false;
  Member* to = merged->members().data();
  for (Object* each = level.first; each != nullptr; each = each->next) to = gather(*each, to);
  if (!merged->finish(scratch_, files)) {
    Object::destroy(merged);
    return false;
  }
  registry_->publish(merged->entry);
  while (level.first != nullptr) {
    Object* const each = level.first;
    unlink(*each);
    registry_->withdraw(each->entry);
    Object::destroy(each);
  }
  link(*merged);
  return true;
}

void Objects::remove(Function& function, Files& files) noexcept {
  Object& object = *function.object;
  registry_->withdraw(object.entry);
  object.erase(function);
  if (object.live == 0) {
    unlink(object);
    Object::destroy(&object);
  } else if (object.live * 2 > object.count || !shrink(object, files)) {
    registry_->publish(object.entry);
  }
}

// False: no memory.
bool Objects::shrink(Object& object, Files& files) noexcept {
  Object* const smaller = Object::make(object.live);
  if (smaller == nullptr) return false;
  (void)gather(object, smaller->members().data());
  if (!smaller->finish(scratch_, files)) {
    Object::destroy(smaller);
    return false;
  }
  unlink(object);
  Object::destroy(&object);
  publish(*smaller);
  merge_full_levels(smaller->level, files);
  return true;
}

void Objects::withdraw_all() noexcept {
  for (Level& level : levels_) {
    while (Object* const each = level.first) {
      unlink(*each);
      registry_->withdraw(each->entry);
      Object::destroy(each);
    }
  }
}

}  // namespace jitquill::gdbobj
