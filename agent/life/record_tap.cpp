#include "agent/life/record_tap.hpp"

#include <atomic>
#include <cstring>

#include "agent/base/drain_lock.hpp"
#include "agent/base/guest_call.hpp"

namespace jitquill::record_tap {
namespace {

// All but end() under the drain's lock.
class Tap final : public RecordTaker {
 public:
  void begin(std::span<const std::uint8_t> header) noexcept override {
    size_ = 0;
    if (header.size() > kMostHeader) return;
    std::memcpy(header_, header.data(), header.size());
    size_ = header.size();
  }
  void take(std::uint64_t thread, std::span<const std::uint8_t> record) noexcept override {
    if (function_ != nullptr) take_(thread, record.data(), record.size(), function_, context_);
  }
  void lose(std::uint64_t thread, std::uint64_t bytes) noexcept override {
    if (function_ != nullptr) take_(thread, nullptr, bytes, function_, context_);
  }
  Status subscribe(Take call, void* function, void* context) noexcept {
    if (function != nullptr && function_ != nullptr) return Status::kBusy;
    take_ = call;
    function_ = function;
    context_ = context;
    return Status::kOk;
  }
  Status metadata(std::span<std::uint8_t> room, std::size_t& size) const noexcept {
    size = size_;
    if (size == 0) return Status::kOff;
    if (size > room.size()) return Status::kTooLarge;
    std::memcpy(room.data(), header_, size);
    return Status::kOk;
  }
  void end() noexcept { size_ = 0; }
  void forget() noexcept {
    function_ = nullptr;
    size_ = 0;
  }

 private:
  std::uint8_t header_[kMostHeader] = {};  // no memory until there is a trace
  std::atomic<std::size_t> size_ = 0;
  Take take_ = nullptr;
  void* function_ = nullptr;
  void* context_ = nullptr;
};

constinit Tap g_tap;

}  // namespace

Status subscribe(Take take, void* function, void* context) {
  return guest_call([&] {
    if (DrainLock::lock() == OwnerLock::Entry::kAlreadyMine) return Status::kBusy;
    const Status status = g_tap.subscribe(take, function, context);
    DrainLock::unlock();
    return status;
  });
}

Status metadata(std::span<std::uint8_t> room, std::size_t& size) {
  return guest_call([&] {
    const bool was_mine = DrainLock::lock() == OwnerLock::Entry::kAlreadyMine;
    const Status status = g_tap.metadata(room, size);
    if (!was_mine) DrainLock::unlock();
    return status;
  });
}

RecordTaker& taker() noexcept {
  return g_tap;
}

void end() noexcept {
  g_tap.end();
}

void forget() noexcept {
  g_tap.forget();
}

}  // namespace jitquill::record_tap
