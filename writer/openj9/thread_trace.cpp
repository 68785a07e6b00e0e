#include "writer/openj9/thread_trace.hpp"

#include <cstring>
#include <new>

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kMostHead = kRecordHead + kMostThreadName + 1 + kSpecialSize;
constexpr std::size_t kStreamRoom = ThreadTrace::kRecordSize - kMostHead;
constexpr std::size_t kRingRoom = (ThreadTrace::kRecordSize - kMostHead) / 4;

}  // namespace

std::size_t ThreadTrace::most_parameters(Type type, const EntryHead<kHost>& head) noexcept {
  return head.most_parameters(type == Type::kExternal ? kStreamRoom : kRingRoom);
}

bool ThreadTrace::open(Type type, const Clock& clock, const ThreadId& thread) noexcept {
  type_ = type;
  tid_ = static_cast<std::uint32_t>(thread.tid);
  key_ = thread.key;
  is_of_many_ = type == Type::kInternal && thread.key == 0;
  newest_ = clock.start_ticks;
  if (type == Type::kExternal) return record_.open(kRecordSize, clock, thread);
  ring_bytes_ = static_cast<std::uint8_t*>(::operator new(kRecordSize, std::nothrow));
  if (ring_bytes_ == nullptr) return false;
  std::memset(ring_bytes_, 0, kRecordSize);
  return ring_.open({ring_bytes_, kRecordSize}, clock, thread, clock.start_ticks);
}

void ThreadTrace::rename(std::string_view name) noexcept {
  if (type_ == Type::kExternal) record_.rename(name);
}

Status ThreadTrace::lose(std::uint32_t records, Bytes& out) noexcept {
  is_changed_ = true;
  return type_ == Type::kExternal ? record_.lose(records, out) : Status::kOk;
}

void ThreadTrace::drop(std::uint32_t records) noexcept {
  is_changed_ = true;
  if (type_ == Type::kExternal) record_.drop(records);
}

void ThreadTrace::discard() noexcept {
  is_changed_ = true;
  if (type_ == Type::kExternal) record_.discard();
}

Status ThreadTrace::close(Bytes& out) noexcept {
  is_changed_ = true;
  return type_ == Type::kExternal ? record_.close(out) : Status::kOk;
}

void ThreadTrace::put_ring(Bytes& out) const noexcept {
  if (type_ == Type::kInternal) out.raw({ring_bytes_, kRecordSize});
}

void ThreadTrace::put_state(bool whole, Bytes& state) noexcept {
  is_changed_ = false;
  state.u64(newest_);
  type_ == Type::kExternal ? record_.put_state(whole, state) : put_ring(state);
}

bool ThreadTrace::apply(ByteSource& state) noexcept {
  newest_ = state.u64();
  is_changed_ = false;
  if (type_ == Type::kExternal) return record_.apply(state);
  const auto bytes = state.raw(kRecordSize);
  if (state.failed()) return false;
  std::memcpy(ring_bytes_, bytes.data(), bytes.size());
  ring_.~Ring();
  new (&ring_) Ring<kHost>;
  return ring_.resume({ring_bytes_, kRecordSize});
}

}  // namespace jitquill::openj9
