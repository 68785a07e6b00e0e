#include "agent/hooks/sites.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <span>

#include "agent/base/safe_copy.hpp"
#include "agent/hooks/site_hooks.hpp"
#include "agent/hooks/sled.hpp"
#include "agent/hooks/x86_64/stack_numbers.h"
#include "jitquill/jitquill.h"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::sites {

const void* hook(std::uint32_t kind, bool with_stacks) noexcept {
  switch (kind) {
    case JITQUILL_SITE_ENTER:
      return reinterpret_cast<const void*>(with_stacks ? &jitquill_site_enter_stack : &jitquill_site_enter);
    case JITQUILL_SITE_LEAVE:
      return reinterpret_cast<const void*>(&jitquill_site_leave);
    case JITQUILL_SITE_TAIL:
      return reinterpret_cast<const void*>(&jitquill_site_tail);
    default:
      return nullptr;
  }
}

namespace {

constexpr std::size_t kMostNameBytes = 4096;  // patterns look at no more
constexpr std::uint32_t kWantsStack = 1u << JITQUILL_STACK_WANTED_BIT;

// In the code, on a place that one store reaches, behind the site before.
bool is_in_place(const CodeLoad& load, const Site& site, std::uint64_t free_from) noexcept {
  const auto writable = reinterpret_cast<std::uint64_t>(load.writable);
  return site.offset >= free_from && site.offset + sled::kSize <= load.bytes.size() &&
         (load.address + site.offset) % sled::kAlignment == 0 &&
         (writable + site.offset) % sled::kAlignment == 0;
}

// The same sled where it is read and where it is written; the first two bytes may be switched meanwhile.
bool is_sled_at(const CodeLoad& load, const Site& site) noexcept {
  const std::uint8_t* const read = load.bytes.data() + site.offset;
  const std::uint8_t* const written = load.writable + site.offset;
  return sled::is_sled(read) && sled::is_sled(written) &&
         __builtin_memcmp(read + 2, written + 2, sled::kSize - 2) == 0;
}

// Thunks are few: one set for an arena of code.
class KnownThunks {
 public:
  // The hook that it leads to; null: it is no thunk.
  const void* hook_of(std::uint64_t thunk) noexcept {
    for (const Row& row : rows_)
      if (row.thunk == thunk) return row.hook;
    std::uint8_t bytes[sled::kThunkSize];
    if (!safe_read(reinterpret_cast<const void*>(thunk), bytes)) return nullptr;
    const auto* const hook = reinterpret_cast<const void*>(sled::hook_of(bytes));
    rows_[next_++ % kRows] = {thunk, hook};
    return hook;
  }

 private:
  static constexpr unsigned kRows = 12;
  struct Row {
    std::uint64_t thunk;
    const void* hook;
  };
  Row rows_[kRows] = {};
  unsigned next_ = 0;
};

// Of one function: its sites mostly lead to three thunks. `takes_stacks` becomes false where an entry's hook
// could not take a stack, and would take the wish for one for a part of the id.
Trouble check(const CodeLoad& load, bool& takes_stacks) noexcept {
  KnownThunks known;
  std::uint64_t free_from = 0;
  for (const Site& site : load.sites) {
    const void* const wanted = hook(site.kind);
    if (wanted == nullptr || !is_in_place(load, site, free_from)) return Trouble::kBadSites;
    if (!is_sled_at(load, site)) return Trouble::kBadSleds;
    const std::uint64_t address = load.address + site.offset;
    const void* const found = known.hook_of(sled::target_of(load.bytes.data() + site.offset, address));
    if (found == nullptr || (found != wanted && found != hook(site.kind, true))) return Trouble::kBadThunk;
    if (site.kind == JITQUILL_SITE_ENTER && found == wanted) takes_stacks = false;
    if (found != wanted && load.id >= kWantsStack) return Trouble::kLargeId;
    free_from = std::uint64_t{site.offset} + sled::kSize;
  }
  return Trouble::kNone;
}

// What was written must be seen where the code runs: a buffer that it was copied from looks the same. Known
// only of code that is read there.
bool is_written_through(const CodeLoad& load) noexcept {
  if (reinterpret_cast<std::uint64_t>(load.bytes.data()) != load.address) return true;
  return std::ranges::all_of(load.sites, [&](const Site& site) { return is_sled_at(load, site); });
}

}  // namespace

const char* text(Trouble trouble) noexcept {
  switch (trouble) {
    case Trouble::kNone:
      return "nothing";
    case Trouble::kNoPlace:
      return "it is not said where they can be written (jitquill_code.writable)";
    case Trouble::kBadSites:
      return "their offsets do not ascend, leave the code, or are not 8-aligned, or a kind is unknown";
    case Trouble::kBadSleds:
      return "where one should be lie other bytes than EB 09 id32 E8 rel32, or `writable` is other memory "
             "than the code";
    case Trouble::kBadThunk:
      return "a sled's call does not lead to FF 25 00000000 and the address of jitquill_site_hook()";
    case Trouble::kLargeId:
      return "the number of the function does not fit into a sled: 4294967295 functions were announced "
             "before, or with stack= 2147483647";
    case Trouble::kNoMemory:
      return "no memory for the agent's own tables";
  }
  return "";
}

void touch(const CodeLoad& load) noexcept {
  if (load.writable == nullptr || load.may_fault) return;
  std::uint64_t free_from = 0;
  for (const Site& site : load.sites) {
    if (!is_in_place(load, site, free_from) || !is_sled_at(load, site)) return;
    __atomic_fetch_or(reinterpret_cast<std::uint16_t*>(load.writable + site.offset), 0, __ATOMIC_RELAXED);
    free_from = std::uint64_t{site.offset} + sled::kSize;
  }
}

void touch(std::uint8_t* writable, std::uint64_t size) noexcept {
  constexpr std::uint64_t kPageSize = 4096;
  if (writable == nullptr || size == 0) return;
  for (std::uint64_t at = 0; at < size; at += kPageSize)
    __atomic_fetch_or(writable + at, 0, __ATOMIC_RELAXED);
  __atomic_fetch_or(writable + size - 1, 0, __ATOMIC_RELAXED);
}

SiteList::SiteList(const CodeLoad& load) noexcept
    : writable_(load.writable),
      count_(static_cast<std::uint32_t>(load.sites.size())),
      name_size_(static_cast<std::uint32_t>(std::min(load.name.size(), kMostNameBytes))),
      id_(static_cast<std::uint32_t>(load.id)) {}

SiteList* SiteList::make(const CodeLoad& load, Trouble& trouble, bool wants_stack) noexcept {
  const bool has_place = load.writable != nullptr && !load.may_fault;
  bool takes_stacks = true;
  trouble = !has_place             ? Trouble::kNoPlace
            : load.id > UINT32_MAX ? Trouble::kLargeId
                                   : check(load, takes_stacks);
  if (trouble != Trouble::kNone) return nullptr;
  const std::size_t name_size = std::min(load.name.size(), kMostNameBytes);
  const std::size_t size = sizeof(SiteList) + load.sites.size() * sizeof(std::uint32_t) + name_size;
  void* const block = ::operator new(size, std::nothrow);
  if (block == nullptr) {
    trouble = Trouble::kNoMemory;
    return nullptr;
  }
  auto* const list = new (block) SiteList(load);
  list->lacks_stacks_ = wants_stack && !takes_stacks;
  std::uint32_t exits = list->count_;
  for (const Site& site : load.sites) {
    const bool is_entry = site.kind == JITQUILL_SITE_ENTER;
    list->offsets()[is_entry ? list->entries_++ : --exits] = site.offset;
    const bool is_wanted = is_entry && wants_stack && takes_stacks;
    sled::put_id(load.writable + site.offset, list->id_ | (is_wanted ? kWantsStack : 0));
  }
  if (name_size != 0) __builtin_memcpy(list->offsets() + list->count_, load.name.data(), name_size);
  if (is_written_through(load)) return list;
  trouble = Trouble::kBadSleds;
  forget(list);
  return nullptr;
}

void SiteList::forget(SiteList* list) noexcept {
  ::operator delete(list);
}

void SiteList::turn_each(std::uint32_t from, std::uint32_t to, bool on) noexcept {
  for (std::uint32_t i = from; i < to; ++i) sled::turn(writable_ + offsets()[i], on);
}

// By the kernel, which answers where a load or store of our own would fault; where it may not be asked (a
// seccomp filter) its runtime is believed. What is written is what is there.
bool SiteList::is_there() noexcept {
  constexpr std::uint32_t kAtOnce = 32;
  std::uint8_t bytes[kAtOnce][sled::kSize];
  iovec local[kAtOnce];
  iovec remote[kAtOnce];
  const long process = raw::call(SYS_getpid);
  for (std::uint32_t from = 0; from < count_; from += kAtOnce) {
    const std::uint32_t count = std::min(kAtOnce, count_ - from);
    const auto all = [&](long number, std::size_t size) {
      for (std::uint32_t i = 0; i < count; ++i) {
        local[i] = {bytes[i], size};
        remote[i] = {writable_ + offsets()[from + i], size};
      }
      return raw::call(number, process, local, std::size_t{count}, remote, std::size_t{count}, 0UL);
    };
    const long read = all(SYS_process_vm_readv, sled::kSize);
    if (read == -EPERM || read == -ENOSYS) return true;
    if (read != static_cast<long>(count * sled::kSize)) return false;
    const bool are_ours = std::ranges::all_of(std::span(bytes, count), [&](const std::uint8_t* at) {
      return sled::is_sled(at) && ((sled::id_of(at) ^ id_) & ~kWantsStack) == 0;
    });
    constexpr std::size_t kState = sizeof(std::uint16_t);
    if (!are_ours || all(SYS_process_vm_writev, kState) != static_cast<long>(count * kState)) return false;
  }
  return true;
}

bool SiteList::turn(bool on) noexcept {
  if (on == is_on_) return true;
  is_gone_ = is_gone_ || !is_there();
  if (!is_gone_) turn_new(on);
  return !is_gone_;
}

void SiteList::turn_new(bool on) noexcept {
  if (on == is_on_) return;
  is_on_ = on;
  if (on) turn_each(entries_, count_, true);
  turn_each(0, entries_, on);
  if (!on) turn_each(entries_, count_, false);
}

std::string_view SiteList::name() const noexcept {
  const auto* const offsets = reinterpret_cast<const std::uint32_t*>(this + 1);
  return {reinterpret_cast<const char*>(offsets + count_), name_size_};
}

}  // namespace jitquill::sites
