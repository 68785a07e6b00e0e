#include "agent/unwinders/registry.hpp"

#include <algorithm>
#include <cstring>

#include "agent/base/counters.hpp"
#include "agent/base/process_page.hpp"

namespace jitquill::unwinders {
namespace {

constinit Registry g_registry;

// A section that is opened owns the addresses from here on down to such a multiple, so that a runtime whose
// memory grows downward does not open one for every function.
constexpr std::uint64_t kStartAlignment = std::uint64_t{64} << 20;

}  // namespace

Registry& registry() noexcept {
  return g_registry;
}

// ---- The lock ----

OwnerLock::Entry Registry::lock() noexcept {
  return OwnerLock::lock(process_page().unwinders_lock_word);
}

void Registry::unlock() noexcept {
  OwnerLock::unlock(process_page().unwinders_lock_word);
}

bool Registry::enter() noexcept {
  if (lock() == OwnerLock::Entry::kAlreadyMine) {
    count(Counter::registrations_refused);
    return false;
  }
  if (busy_) {
    // A raw clone in the middle of another thread's work: what the parent registered stays registered.
    live_.store(0, std::memory_order_relaxed);
    engines_.forget();
    sections_ = {};
    retired_ = {};
    spare_ = {};
    count(Counter::tables_discarded);
  }
  busy_ = true;
  engines_.look_around(sections_);
  return true;
}

void Registry::leave() noexcept {
  busy_ = false;
  unlock();
}

// ---- Ending ----

void Registry::close(std::size_t index) noexcept {
  Section& section = sections_[index];
  engines_.withdraw(section);
  sections_.erase(index);
  spare_.push(section);
  count(Counter::unwind_sections_ended);
}

void Registry::end(std::size_t index, std::uint32_t position) noexcept {
  Section& section = sections_[index];
  Function& function = section.functions()[position];
  const std::uint64_t address = function.address;
  engines_.untell(function);
  section.remove(position);
  engines_.removed();
  end_retired_copies(address);
  live_.fetch_sub(1, std::memory_order_relaxed);
  count(Counter::registrations_ended);
  if (section.functions().empty()) close(index);
}

void Registry::end_retired_copies(std::uint64_t address) noexcept {
  retired_.keep_if([&](Section& section) {
    const std::uint32_t position = section.position(address);
    if (position < section.functions().size() && section.functions()[position].address == address)
      section.remove(position);
    if (!section.functions().empty()) return true;
    spare_.push(section);
    return false;
  });
}

void Registry::end_range(std::uint64_t address, std::uint64_t end_address) noexcept {
  std::size_t index = sections_.owner_of(address);
  if (index == SectionIndex::kNone) index = 0;
  if (index > 0) --index;  // its last function may reach over its neighbour's start
  while (index < sections_.size() && sections_[index].start < end_address) {
    Section& section = sections_[index];
    std::uint32_t position = section.position(address);
    if (position > 0 && section.functions()[position - 1].end() > address) --position;
    const std::span<Function> functions = section.functions();
    if (position == functions.size() || functions[position].address >= end_address) {
      ++index;
      continue;
    }
    end(index, position);  // may close the section: look at the same index again
  }
}

// ---- Finding a place ----

Section* Registry::new_section(std::uint64_t start) noexcept {
  if (spare_.empty()) {
    Section* const made = Section::make();
    if (made == nullptr) return nullptr;
    spare_.push(*made);
  }
  Section* const section = spare_.pop();
  section->begin_anew(start);
  count(Counter::unwind_sections_made);
  return section;
}

// Gone functions leave what the unwinders see.
void Registry::refresh(Section& section) noexcept {
  section.begin_change();
  (void)engines_.publish(section);  // at worst they stay a while longer
}

// The section gives up the addresses below its first live function.
bool Registry::rebase(Section& section) noexcept {
  const std::uint64_t before = section.start;
  section.start = section.functions()[0].address;
  if (section.start == before || engines_.rebase(section)) return true;
  section.start = before;
  return false;
}

std::size_t Registry::open_at(std::size_t index, std::uint64_t address) noexcept {
  std::uint64_t start = address & ~(kStartAlignment - 1);
  if (index > 0) {
    Section& before = sections_[index - 1];
    if (before.published_end > address) refresh(before);
    start = std::max(start, before.published_end);
  }
  if (!sections_.can_insert()) return SectionIndex::kNone;
  Section* const section = new_section(start);
  if (section == nullptr) return SectionIndex::kNone;
  sections_.insert(index, *section);
  return index;
}

// Both halves are registered before the whole is given up. Its memory waits: unwinders may be reading it.
bool Registry::split(std::size_t index, std::uint32_t position) noexcept {
  Section& whole = sections_[index];
  Section* const low = new_section(whole.start);
  Section* const high = new_section(whole.functions()[position].address);
  if (low == nullptr || high == nullptr || !sections_.can_insert()) {
    if (low != nullptr) spare_.push(*low);
    if (high != nullptr) spare_.push(*high);
    count(Counter::unwind_sections_ended, (low != nullptr ? 1u : 0u) + (high != nullptr ? 1u : 0u));
    return false;
  }
  std::uint32_t done = 0;
  for (const Function& function : whole.functions()) {
    (void)(done < position ? low : high)->copy(whole, function);
    ++done;
  }
  (void)engines_.publish(*high);
  (void)engines_.publish(*low);
  engines_.withdraw(whole);
  sections_.put(index, *low);
  sections_.insert(index + 1, *high);
  retired_.push(whole);
  count(Counter::unwind_sections_ended);
  return true;
}

// Where the function goes; kNone: no memory.
std::size_t Registry::place_for(std::uint64_t address, std::uint64_t end_address,
                                std::uint32_t unit_count) noexcept {
  for (;;) {
    const std::size_t index = sections_.owner_of(address);
    if (index == SectionIndex::kNone) return open_at(0, address);
    Section& section = sections_[index];
    if (end_address - section.start > Section::kMaxWidth) return open_at(index + 1, address);
    if (section.has_room(unit_count)) return index;
    const std::uint32_t position = section.position(address);
    if (position == section.functions().size()) return open_at(index + 1, address);
    if (position == 0) return rebase(section) ? open_at(index, address) : SectionIndex::kNone;
    if (!split(index, position)) return SectionIndex::kNone;
  }
}

// What neighbours still show of functions that are gone, or own without using it, must not hide the new one.
bool Registry::make_way(std::size_t index, std::uint64_t address, std::uint64_t end_address) noexcept {
  if (index > 0 && sections_[index - 1].published_end > address) refresh(sections_[index - 1]);
  if (index + 1 == sections_.size()) return true;
  Section& after = sections_[index + 1];
  if (after.published_begin < end_address) refresh(after);
  return after.start >= end_address || rebase(after);
}

// ---- News ----

template <class Put>
bool Registry::put(std::uint64_t address, std::uint64_t end_address, std::uint32_t unit_count,
                   Put put_into) noexcept {
  const std::size_t index = place_for(address, end_address, unit_count);
  if (index == SectionIndex::kNone) return false;
  Section& section = sections_[index];
  section.begin_change();
  const bool is_put = make_way(index, address, end_address) && put_into(section);
  if (is_put) live_.fetch_add(1, std::memory_order_relaxed);
  if (section.functions().empty()) {
    close(index);
    return false;
  }
  if (engines_.publish(section) || !is_put) return is_put;
  end(index, section.position(address));
  return false;
}

bool Registry::load(const Unwinding& unwinding, std::uint64_t address, std::uint64_t size) noexcept {
  if (!enter()) return false;
  end_range(address, address + size);
  std::uint32_t unit_count = 0;
  const bool is_put = engines_.is_any_there() &&
                      Section::measure(unwinding, size, unit_count) == Status::kOk &&
                      put(address, address + size, unit_count, [&](Section& section) {
                        const auto code_size = static_cast<std::uint32_t>(size);
                        return section.add(unwinding, address, code_size, unit_count) != nullptr;
                      });
  count(is_put ? Counter::registrations : Counter::registrations_refused);
  leave();
  return is_put;
}

void Registry::end_overlapped(std::uint64_t address, std::uint64_t size) noexcept {
  if (!enter()) return;
  end_range(address, address + size);
  leave();
}

void Registry::unload(std::uint64_t address) noexcept {
  if (!enter()) return;
  const std::size_t index = sections_.owner_of(address);
  if (index != SectionIndex::kNone) {
    const std::uint32_t position = sections_[index].position(address);
    const std::span<Function> functions = sections_[index].functions();
    if (position < functions.size() && functions[position].address == address) end(index, position);
  }
  leave();
}

void Registry::move(std::uint64_t from, std::uint64_t to) noexcept {
  if (!enter()) return;
  const std::size_t index = sections_.owner_of(from);
  const std::uint32_t position = index == SectionIndex::kNone ? 0 : sections_[index].position(from);
  if (index != SectionIndex::kNone && position < sections_[index].functions().size() &&
      sections_[index].functions()[position].address == from) {
    Section& section = sections_[index];
    Function function = section.functions()[position];
    const std::span<const std::uint8_t> bytes = section.bytes_of(function);
    std::memcpy(moved_, bytes.data(), bytes.size());
    end(index, position);
    end_range(to, to + function.size);
    function.told_with = nullptr;
    const bool is_put = put(to, to + function.size, function.unit_count, [&](Section& into) {
      return into.add_bytes({moved_, bytes.size()}, function, to) != nullptr;
    });
    count(is_put ? Counter::registrations : Counter::registrations_refused);
  }
  leave();
}

}  // namespace jitquill::unwinders
