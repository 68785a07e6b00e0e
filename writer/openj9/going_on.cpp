// A trace that goes on in another file: each has the header and whole records, and can be read alone; their
// records behind one header are the trace.
#include <algorithm>

#include "writer/openj9/sink.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kMostHeader = std::size_t{1} << 20;

}  // namespace

// Of its entries; what is longer than a record is cut to one.
std::size_t Openj9Sink::most_bytes_of(const RunEvent& event, const Batch& batch) const noexcept {
  constexpr std::size_t kEntry = 128, kMostEscaped = 4;
  if (event.kind == RunEventKind::kPost && event.amount < batch.posts.size())
    return kEntry + kMostEscaped * batch.posts[event.amount].payload.size();
  if (event.kind != RunEventKind::kStack || event.amount >= batch.stacks.size())
    return kEntry + name_of(event.function).size();
  std::size_t sum = 0;
  for (const FunctionNumber caller : batch.stacks[event.amount].callers)
    sum += kEntry + name_of(caller).size();
  return sum;
}

// A record that is full may be full by half, before an entry of the other half. Beside them the record that
// is open, and that of what is of no thread.
std::size_t Openj9Sink::most_bytes(const Batch& batch) const noexcept {
  if (type_ == Type::kInternal) return 0;
  std::size_t entries = 0;
  for (const RunEvent& event : batch.events) entries += most_bytes_of(event, batch);
  return (3 + 2 * entries / ThreadTrace::kRecordSize) * ThreadTrace::kRecordSize;
}

// Open records of threads go to the next file, when they are full.
Status Openj9Sink::leave_off(Bytes& out) noexcept {
  handed_ = out.size();
  (void)process_.close(out);
  if (out.failed()) return Status::kNoMemory;
  hand_over(out);
  return Status::kOk;
}

// The clock's start is the first file's: times are those of one trace. What is there of no thread is from the
// last time, which came to nothing.
Status Openj9Sink::begin_again(Bytes& out) noexcept {
  process_.discard();
  out.raw(header_.view());
  handed_ = out.size();
  std::uint64_t newest = process_.newest_ticks();
  for (const ThreadTrace* const trace : threads_.all()) {
    if (trace != nullptr) newest = std::max(newest, trace->newest_ticks());
  }
  put_date(newest, out);
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

// | size, 0 = as it was | bytes |
void Openj9Sink::put_header_state(bool whole, Bytes& state) noexcept {
  const bool is_put = whole || !is_header_told_;
  is_header_told_ = true;
  state.uleb128(is_put ? header_.size() : 0);
  if (is_put) state.raw(header_.view());
}

bool Openj9Sink::apply_header(ByteSource& state) noexcept {
  const auto header = state.raw(state.uleb128(kMostHeader));
  if (header.empty()) return !state.failed();
  header_.clear();
  header_.raw(header);
  return !header_.failed();
}

}  // namespace jitquill::openj9
