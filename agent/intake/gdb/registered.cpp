#include "agent/intake/gdb/registered.hpp"

#include <utility>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/gdb/symfile_code.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::gdb {
namespace {

using intake::Block;

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;

Block copy_symfile(const JitEntry& entry) noexcept {
  if (entry.symfile_size == 0 || entry.symfile_size > kMostBytes) return {};
  const std::span from(reinterpret_cast<const std::uint8_t*>(entry.symfile),
                       static_cast<std::size_t>(entry.symfile_size));
  Block copy(from.size());
  if (copy && !copy_whole(from, copy.data())) return {};
  return copy;
}

std::span<const std::uint8_t> copy_of(const Symfile& symfile) noexcept {
  return {symfile.copy, static_cast<std::size_t>(symfile.size)};
}

}  // namespace

SymfileList* Registered::list_of(const Pair& pair) noexcept {
  SymfileList* unused = nullptr;
  for (SymfileList& list : lists_) {
    if (list.descriptor == pair.descriptor) return &list;
    if (list.size() == 0 && unused == nullptr) unused = &list;
  }
  if (unused != nullptr) {
    unused->descriptor = pair.descriptor;
    unused->owed = 0;
  }
  return unused;
}

void Registered::came(const Pair& pair, std::uint64_t entry) {
  tell_those_that_became_final();
  SymfileList* const list = list_of(pair);
  const auto from = read_from_host<JitEntry>(entry);
  if (from && list != nullptr) {
    (void)meet(*list, entry, *from);
  } else {
    went(pair, entry);
    count(Counter::symfiles_refused);
  }
}

void Registered::went(const Pair& pair, std::uint64_t entry) {
  SymfileList* const list = list_of(pair);
  Symfile* const symfile = list != nullptr ? list->find(entry) : nullptr;
  if (symfile != nullptr) end(*list, *symfile);
}

// Whether it was known as it is, with all that is behind it as far as the entry says.
bool Registered::meet(SymfileList& list, std::uint64_t entry, const JitEntry& from) {
  Symfile* const known = list.find(entry);
  if (known != nullptr && known->address == from.symfile && known->size == from.symfile_size) {
    known->walk = walk_;
    return std::exchange(known->next, from.next) == from.next;
  }
  if (known != nullptr) end(list, *known);  // its memory serves another by now
  add(list, entry, from);
  return false;
}

void Registered::add(SymfileList& list, std::uint64_t entry, const JitEntry& from) {
  Symfile* const added =
      list.add({.entry = entry, .next = from.next, .address = from.symfile, .size = from.symfile_size});
  if (added == nullptr) return count(Counter::news_out_of_memory);
  added->walk = walk_;
  Block copy = copy_symfile(from);
  if (!copy) {
    count(Counter::symfiles_refused);  // known, so that it is not counted at each walk
  } else if (SymfileCode(copy.view()).is_final()) {
    tell(*added, copy.view());
  } else {
    wait(*added, std::move(copy));
  }
}

std::size_t Registered::waiting() const noexcept {
  const std::size_t count = waiting_count_.load(std::memory_order_relaxed);
  if (count == 0 || waiting_pid_.load(std::memory_order_relaxed) != current_pid()) return 0;
  return count;
}

// The copies that a child inherited are given back.
void Registered::wait_in_this_process() noexcept {
  const std::uint32_t pid = current_pid();
  if (waiting_pid_.exchange(pid, std::memory_order_relaxed) == pid) return;
  for (Symfile* const symfile : waiting_.all()) intake::memory().free(std::exchange(symfile->copy, nullptr));
  waiting_.release();
  waiting_count_.store(0, std::memory_order_relaxed);
}

void Registered::wait(Symfile& symfile, Block copy) {
  wait_in_this_process();
  count(Counter::symfiles_waited);
  symfile.since_ns = monotonic_ns();
  (void)intake::open_outputs();  // for perf, nothing may be dated back to before its dump
  if (waiting_.push(&symfile)) {
    symfile.copy = copy.give_away();
    waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
  } else {
    tell(symfile, copy.view());
  }
}

void Registered::tell(Symfile& symfile, std::span<const std::uint8_t> copy) {
  intake::Growing<std::uint64_t> addresses;
  const bool is_read = SymfileCode(copy).tell(addresses, symfile.since_ns);
  count(is_read ? Counter::symfiles_read : Counter::symfiles_refused);
  symfile.function_count = addresses.size();
  symfile.functions = addresses.give_away();
}

void Registered::tell_copy(Symfile& symfile) {
  tell(symfile, copy_of(symfile));
  intake::memory().free(std::exchange(symfile.copy, nullptr));
}

// The others are told.
template <class IsKept>
void Registered::keep_waiting_if(IsKept is_kept) {
  if (waiting() == 0) return;
  waiting_.keep_if([&](Symfile* symfile) {
    if (is_kept(*symfile)) return true;
    tell_copy(*symfile);
    return false;
  });
  waiting_count_.store(waiting_.size(), std::memory_order_relaxed);
}

void Registered::became_final(std::uint64_t address, std::uint64_t size) {
  keep_waiting_if(
      [&](Symfile& symfile) { return !SymfileCode(copy_of(symfile)).has_code_in(address, size); });
}

// Some are relocated by the next registration; others, which wait for code of another module, are not.
void Registered::tell_those_that_became_final() {
  keep_waiting_if([](Symfile& symfile) { return !SymfileCode(copy_of(symfile)).is_final(); });
}

void Registered::tell_waiting() {
  keep_waiting_if([](Symfile&) { return false; });
}

void Registered::end(SymfileList& list, Symfile& symfile) {
  if (symfile.copy != nullptr) wait_in_this_process();
  // It ran, or it did not: its bytes are there.
  if (symfile.copy != nullptr) keep_waiting_if([&](Symfile& other) { return &other != &symfile; });
  for (std::size_t i = 0; i < symfile.function_count; ++i) (void)intake::tell_unload(symfile.functions[i]);
  intake::memory().free(symfile.functions);
  list.remove(symfile);
}

void Registered::walk(const Pair& pair) {
  SymfileList* const list = list_of(pair);
  const auto descriptor = read_from_host<JitDescriptor>(pair.descriptor);
  if (list != nullptr && descriptor && descriptor->version == 1) read_list(*list, *descriptor, true);
}

void Registered::look(const Pair& pair) {
  SymfileList* const list = list_of(pair);
  const auto descriptor = read_from_host<JitDescriptor>(pair.descriptor);
  if (list == nullptr || !descriptor || descriptor->version != 1) return;
  list->owed += kEntriesPerLook;
  read_list(*list, *descriptor, list->owed >= list->size());
}

void Registered::read_list(SymfileList& list, const JitDescriptor& descriptor, bool is_whole) {
  tell_those_that_became_final();
  ++walk_;
  bool is_rest_known = false;
  for_each_entry(descriptor.first, [&](std::uint64_t entry, const JitEntry& from) {
    count(Counter::jit_entries_read);
    is_rest_known = meet(list, entry, from) && !is_whole;
    return !is_rest_known;
  });
  if (!is_rest_known) {
    list.owed = 0;
    list.for_each([&](Symfile& symfile) {
      if (symfile.walk != walk_) end(list, symfile);
    });
  } else if (descriptor.action == kUnregister) {
    Symfile* const last = list.find(descriptor.relevant);
    if (last != nullptr && last->walk != walk_) end(list, *last);
  }
}

}  // namespace jitquill::gdb
