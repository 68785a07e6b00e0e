#include "agent/lanes/code_map.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "writer/bytes/hash.hpp"

namespace jitquill {

// Four words at a time, none of which waits for another: a runtime that starts has megabytes of it.
std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  constexpr std::size_t kLanes = 4;
  std::uint64_t lanes[kLanes] = {1, 2, 3, 4};
  std::uint64_t hash = code.size();
  std::uint64_t words[kLanes];
  for (; code.size() >= sizeof words; code = code.subspan(sizeof words)) {
    std::memcpy(words, code.data(), sizeof words);
    for (std::size_t i = 0; i < kLanes; ++i) lanes[i] = mix(lanes[i], words[i]);
  }
  std::fill_n(words, kLanes, 0);
  if (!code.empty()) std::memcpy(words, code.data(), code.size());
  for (std::size_t i = 0; i < kLanes; ++i) hash = mix(hash, mix(lanes[i], words[i]));
  return hash | 1;
}

std::uint32_t CodeMap::free_room(std::uint64_t address, std::uint64_t size,
                                 std::uint32_t wanted) const noexcept {
  if (live_ == nullptr) return wanted;
  const Place next = live_->at_or_above(address + size);
  if (live_->is_end(next)) return wanted;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, next.start() - (address + size)));
}

void CodeMap::release(LiveCode& code) noexcept {
  if (code.twin_address != 0) twins_.give_back(code.twin_address, code.twin_size);
  if (code.kept != nullptr) KeptCode::forget(code.kept);
  if (code.sites != nullptr) sites::SiteList::forget(code.sites);
}

// What begins below `address` and reaches it: code ends, a tail is gone. `at` is the first range from there
// on.
void CodeMap::end_below(Place& at, std::uint64_t address, Added& added) noexcept {
  Place before = at;
  if (!live_->step_back(before)) return;
  LiveCode& code = before.code();
  if (before.end() > address) {
    release(code);
    at = live_->erase(before);
    ++added.replaced;
  } else if (before.end() + code.tail > address) {
    code.tail = 0;  // counted once: perf has lost these tables from now on
    ++added.tails_overwritten;
  }
}

CodeMap::Added CodeMap::add(const CodeLoad& load, const LiveCode& code, bool keeps_load) noexcept {
  const std::uint64_t address = load.address;
  Added added;
  if (live_ == nullptr) live_ = new (std::nothrow) CodePages;
  KeptCode* const kept = keeps_load && live_ != nullptr ? KeptCode::keep(load, files_) : nullptr;
  if (live_ == nullptr || !live_->can_insert()) {
    KeptCode::forget(kept);
    sites::SiteList::forget(code.sites);
    added.has_memory = false;
    return added;
  }
  const auto put = [&](LiveCode& here) {
    here = code;
    here.kept = kept;
  };
  Place at = live_->at_or_above(address);
  end_below(at, address, added);
  // Code at a used address, the usual way of an overlap, takes over its predecessor's place.
  const bool same_address = !live_->is_end(at) && at.start() == address;
  if (same_address) {
    release(at.code());
    put(at.code());
    live_->step(at);
    ++added.replaced;
  }
  while (!live_->is_end(at) && at.start() < address + code.size) {
    release(at.code());
    at = live_->erase(at);
    ++added.replaced;
  }
  if (!same_address) put(live_->insert(address));
  return added;
}

bool CodeMap::remove(std::uint64_t address) noexcept {
  if (live_ == nullptr) return false;
  const Place found = live_->at_or_above(address);
  if (live_->is_end(found) || found.start() != address) return false;
  release(found.code());
  (void)live_->erase(found);
  return true;
}

void CodeMap::clear() noexcept {
  if (live_ == nullptr) return;
  live_->for_each([this](std::uint64_t, LiveCode& code) { release(code); });
  delete live_;
  live_ = nullptr;
  files_.clear();
}

KeptCode* CodeMap::take(std::uint64_t address) noexcept {
  LiveCode& code = live_->at_or_above(address).code();
  KeptCode* const kept = code.kept;
  code.kept = nullptr;
  (void)remove(address);
  return kept;
}

bool CodeMap::has_told(std::uint64_t address, std::uint64_t size) const noexcept {
  if (live_ == nullptr) return false;
  Place at = live_->at_or_above(address);
  Place before = at;
  if (live_->step_back(before) && before.end() > address && before.code().is_told()) return true;
  for (; !live_->is_end(at) && at.start() < address + size; live_->step(at)) {
    if (at.code().is_told()) return true;
  }
  return false;
}

std::uint64_t CodeMap::bytes_in(std::uint64_t start, std::uint64_t end) const noexcept {
  if (live_ == nullptr) return 0;
  Place at = live_->at_or_above(start);
  (void)live_->step_back(at);
  std::uint64_t bytes = 0;
  for (; !live_->is_end(at) && at.start() < end; live_->step(at)) {
    const std::uint64_t from = std::max(start, at.start());
    const std::uint64_t to = std::min(end, at.end());
    if (from < to) bytes += to - from;
  }
  return bytes;
}

const LiveCode* CodeMap::find(std::uint64_t address) const noexcept {
  if (live_ == nullptr) return nullptr;
  const Place found = live_->at_or_above(address);
  return live_->is_end(found) || found.start() != address ? nullptr : &found.code();
}

}  // namespace jitquill
