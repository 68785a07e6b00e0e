#include "agent/lanes/code_map.hpp"

#include <algorithm>
#include <iterator>
#include <new>

#include "agent/base/arena.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kNodeSize = 128;  // bounds a node of std::map: key, value, three links and a colour
static_assert(sizeof(std::pair<const std::uint64_t, LiveCode>) + 4 * sizeof(void*) <= kNodeSize);

}  // namespace

std::uint32_t CodeMap::free_room(std::uint64_t address, std::uint64_t size,
                                 std::uint32_t wanted) const noexcept {
  if (live_ == nullptr) return wanted;
  const auto next = live_->lower_bound(address + size);
  if (next == live_->end()) return wanted;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, next->first - (address + size)));
}

CodeMap::Added CodeMap::add(std::uint64_t address, const LiveCode& code) noexcept {
  Added added;
  if (live_ == nullptr) live_ = new (std::nothrow) Live;
  if (live_ == nullptr || !arena().can_serve(kNodeSize)) {
    added.has_memory = false;
    return added;
  }
  Live& live = *live_;
  auto at = live.lower_bound(address);
  if (at != live.begin()) {
    const auto before = std::prev(at);
    const std::uint64_t end = before->first + before->second.size;
    if (end > address) {
      live.erase(before);
      ++added.replaced;
    } else if (end + before->second.tail > address) {
      before->second.tail = 0;  // counted once: perf has lost these tables from now on
      ++added.tails_overwritten;
    }
  }
  // Code at a used address, the usual way of an overlap, takes over its predecessor's node.
  const bool same_address = at != live.end() && at->first == address;
  if (same_address) {
    at->second = code;
    ++added.replaced;
    ++at;
  }
  while (at != live.end() && at->first < address + code.size) {
    at = live.erase(at);
    ++added.replaced;
  }
  if (!same_address) live.emplace_hint(at, address, code);
  return added;
}

std::optional<LiveCode> CodeMap::remove(std::uint64_t address) noexcept {
  if (live_ == nullptr) return std::nullopt;
  const auto found = live_->find(address);
  if (found == live_->end()) return std::nullopt;
  const LiveCode code = found->second;
  live_->erase(found);
  return code;
}

}  // namespace jitquill
