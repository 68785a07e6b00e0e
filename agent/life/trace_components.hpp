// The components of trace points that runtimes have registered, for the life of the process.
//
// Context   at(), level_of(): any, [hook] too. The others: the owner of the leaf lock.
// Promises  what is registered never changes, nor goes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "writer/model/trace_selection.hpp"
#include "writer/sink/sink.hpp"
#include "writer/sink/trace_component.hpp"

namespace jitquill {

class TraceComponents {
 public:
  static constexpr std::uint32_t kMost = 32;

  // Takes it over, or deletes it where the same is there. kBadArgument: the name is another's. kFull.
  Status add(TraceComponent* component, std::uint32_t& number, bool& is_new) noexcept;
  // Null: none.
  const TraceComponent* at(std::uint32_t number) const noexcept {
    return number < kMost ? components_[number].load(std::memory_order_acquire) : nullptr;
  }
  // Up to which its points are taken.
  int level_of(std::uint32_t number) const noexcept {
    return levels_[number].load(std::memory_order_relaxed);
  }
  void choose(const TraceSelection& selection, bool is_on) noexcept;
  bool is_on() const noexcept { return is_on_; }

  // <command>.<component>.dat, so that it meets no other file: of one, or of all.
  static Status put_file(const TraceComponent& component, std::string_view command, Folder& folder) noexcept;
  Status put_files(std::string_view command, Folder& folder) const noexcept;

  // In a child whose memory cannot be trusted.
  void forget() noexcept;

 private:
  void choose(std::uint32_t number, const TraceComponent& component) noexcept;

  std::atomic<const TraceComponent*> components_[kMost] = {};
  std::atomic<int> levels_[kMost] = {};
  TraceSelection selection_;
  bool is_on_ = false;
};

TraceComponents& trace_components() noexcept;

}  // namespace jitquill
