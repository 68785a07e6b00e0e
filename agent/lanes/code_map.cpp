#include "agent/lanes/code_map.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "agent/base/arena.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kNodeSize = 128;  // bounds a node of std::map: key, value, three links and a colour
static_assert(sizeof(std::pair<const std::uint64_t, LiveCode>) + 4 * sizeof(void*) <= kNodeSize);

constexpr int kNeighbours = 2;  // looked at before a search: the code that is replaced, and the next

}  // namespace

std::uint64_t hash_of(std::span<const std::uint8_t> code) noexcept {
  constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
  std::uint64_t hash = code.size() + 1;
  while (!code.empty()) {
    std::uint64_t word = 0;
    const std::size_t size = std::min(code.size(), sizeof word);
    std::memcpy(&word, code.data(), size);
    const std::uint64_t product = (hash ^ word) * kOdd;
    hash = product ^ product >> 32;
    code = code.subspan(size);
  }
  return hash | 1;
}

CodeMap::Ranges::iterator CodeMap::at_or_above(std::uint64_t address) const noexcept {
  Ranges& ranges = live_->ranges;
  auto next = live_->newest;
  if (next == ranges.end() || next->first >= address) return ranges.lower_bound(address);
  for (int i = 0; i < kNeighbours; ++i) {
    ++next;
    if (next == ranges.end() || next->first >= address) return next;
  }
  return ranges.lower_bound(address);
}

std::uint32_t CodeMap::free_room(std::uint64_t address, std::uint64_t size,
                                 std::uint32_t wanted) const noexcept {
  if (live_ == nullptr) return wanted;
  const auto next = at_or_above(address + size);
  if (next == live_->ranges.end()) return wanted;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, next->first - (address + size)));
}

void CodeMap::release(LiveCode& code) noexcept {
  if (code.twin_address != 0) twins_.give_back(code.twin_address, code.twin_size);
  if (code.kept != nullptr) KeptCode::forget(code.kept);
  sites::SiteList::forget(code.sites);
}

// What begins below `address` and reaches it: code ends, a tail is gone. `at` is the first range from there
// on.
void CodeMap::end_below(Ranges::iterator at, std::uint64_t address, Added& added) noexcept {
  if (at == live_->ranges.begin()) return;
  const auto before = std::prev(at);
  const std::uint64_t end = before->first + before->second.size;
  if (end > address) {
    release(before->second);
    live_->ranges.erase(before);
    ++added.replaced;
  } else if (end + before->second.tail > address) {
    before->second.tail = 0;  // counted once: perf has lost these tables from now on
    ++added.tails_overwritten;
  }
}

CodeMap::Added CodeMap::add(const CodeLoad& load, LiveCode code, bool keeps_load) noexcept {
  const std::uint64_t address = load.address;
  Added added;
  if (live_ == nullptr) live_ = new (std::nothrow) Live;
  if (keeps_load && live_ != nullptr) code.kept = KeptCode::keep(load, files_);
  // Asked last: what is allocated in between could take the node's place.
  if (live_ == nullptr || !arena().can_serve(kNodeSize)) {
    KeptCode::forget(code.kept);
    sites::SiteList::forget(code.sites);
    added.has_memory = false;
    return added;
  }
  Ranges& live = live_->ranges;
  auto at = at_or_above(address);
  live_->newest = live.end();
  end_below(at, address, added);
  // Code at a used address, the usual way of an overlap, takes over its predecessor's node.
  const bool same_address = at != live.end() && at->first == address;
  if (same_address) {
    release(at->second);
    at->second = code;
    live_->newest = at++;
    ++added.replaced;
  }
  while (at != live.end() && at->first < address + code.size) {
    release(at->second);
    at = live.erase(at);
    ++added.replaced;
  }
  if (!same_address) live_->newest = live.emplace_hint(at, address, code);
  return added;
}

bool CodeMap::remove(std::uint64_t address) noexcept {
  if (live_ == nullptr) return false;
  const auto found = live_->ranges.find(address);
  if (found == live_->ranges.end()) return false;
  release(found->second);
  live_->newest = live_->ranges.end();
  live_->ranges.erase(found);
  return true;
}

void CodeMap::clear() noexcept {
  if (live_ == nullptr) return;
  for (auto& [address, code] : live_->ranges) release(code);
  delete live_;
  live_ = nullptr;
  files_.clear();
}

KeptCode* CodeMap::take(std::uint64_t address) noexcept {
  LiveCode& code = live_->ranges.find(address)->second;
  KeptCode* const kept = code.kept;
  code.kept = nullptr;
  (void)remove(address);
  return kept;
}

bool CodeMap::has_told(std::uint64_t address, std::uint64_t size) const noexcept {
  if (live_ == nullptr) return false;
  auto at = at_or_above(address);
  if (at != live_->ranges.begin()) {
    const auto& [start, before] = *std::prev(at);
    if (start + before.size > address && before.is_told()) return true;
  }
  for (; at != live_->ranges.end() && at->first < address + size; ++at) {
    if (at->second.is_told()) return true;
  }
  return false;
}

std::uint64_t CodeMap::bytes_in(std::uint64_t start, std::uint64_t end) const noexcept {
  if (live_ == nullptr) return 0;
  auto at = at_or_above(start);
  if (at != live_->ranges.begin()) --at;
  std::uint64_t bytes = 0;
  for (; at != live_->ranges.end() && at->first < end; ++at) {
    const std::uint64_t from = std::max(start, at->first);
    const std::uint64_t to = std::min(end, at->first + at->second.size);
    if (from < to) bytes += to - from;
  }
  return bytes;
}

const LiveCode* CodeMap::find(std::uint64_t address) const noexcept {
  if (live_ == nullptr) return nullptr;
  const auto found = live_->ranges.find(address);
  return found == live_->ranges.end() ? nullptr : &found->second;
}

}  // namespace jitquill
