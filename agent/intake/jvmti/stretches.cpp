#include "agent/intake/jvmti/stretches.hpp"

#include <algorithm>
#include <limits>

#include "agent/base/safe_copy.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr int kMostRecords = 16;
constexpr std::int32_t kMostPlaces = 1 << 17;  // the largest methods that HotSpot compiles have some thousand
constexpr std::int32_t kMostDepth = 512;
constexpr std::size_t kMostFrames = 1 << 20;  // of all places together

template <class T>
std::span<T> read_array(const T* from, std::int32_t count, Scratch& scratch) noexcept {
  if (from == nullptr || count <= 0 || count > kMostPlaces) return {};
  const auto to = scratch.take_array<T>(static_cast<std::size_t>(count));
  if (to.empty()) return {};
  const bool is_whole = safe_copy({reinterpret_cast<const std::uint8_t*>(from), to.size_bytes()},
                                  reinterpret_cast<std::uint8_t*>(to.data()), 0);
  return is_whole ? to : std::span<T>{};
}

// The first inline record of a version that we know, in a list that may be endless.
std::span<const InlinePlace> read_places(const void* compile_info, Scratch& scratch) noexcept {
  auto* at = static_cast<const RecordHead*>(compile_info);
  for (int i = 0; i < kMostRecords && at != nullptr; ++i) {
    RecordHead head;
    if (!safe_read(at, head)) return {};
    InlineRecord record;
    if (head.kind == kInlineRecord && head.major == kRecordMajor && safe_read(at, record))
      return read_array(record.places, record.count, scratch);
    at = head.next;
  }
  return {};
}

// Neighbouring arrays, read as one piece.
struct Run {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint8_t* copy = nullptr;
};

// HotSpot makes its arrays one behind the other, with little between them: to read a few large pieces is far
// cheaper than many small ones.
class Runs {
 public:
  Runs(std::size_t most, Scratch& scratch) noexcept
      : scratch_(scratch), runs_(scratch.take_array<Run>(most)), run_of_(scratch.take_array<Run*>(most)) {}

  // False: it is no array, or there is no memory.
  template <class T>
  bool add(const T* array, std::size_t count) noexcept {
    const auto begin = reinterpret_cast<std::uint64_t>(array);
    const std::uint64_t end = begin + count * sizeof(T);
    if (begin % alignof(T) != 0 || end < begin || added_ == run_of_.size() || runs_.empty()) return false;
    if (count_ == 0 || !takes(runs_[count_ - 1], begin))
      runs_[count_++] = {begin & ~kAligned, begin, nullptr};
    Run& run = runs_[count_ - 1];
    run.end = std::max(run.end, end);
    run_of_[added_++] = &run;
    return true;
  }

  // False: not all of it can be read, or it is too much.
  bool read() noexcept {
    const auto pieces = scratch_.take_array<CopyPiece>(count_);
    if (pieces.empty()) return false;
    std::size_t total = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const auto size = static_cast<std::size_t>(runs_[i].end - runs_[i].begin);
      total += size;
      if (total > kMostBytes) return false;
      runs_[i].copy = static_cast<std::uint8_t*>(scratch_.take(size));
      if (runs_[i].copy == nullptr) return false;
      pieces[i] = {reinterpret_cast<const void*>(runs_[i].begin), runs_[i].copy, size};
    }
    return safe_copy(pieces, 0);
  }

  // Of the array that was added as number `index`.
  template <class T>
  const T* copy_of(const T* array, std::size_t index) const noexcept {
    const Run& run = *run_of_[index];
    return reinterpret_cast<const T*>(run.copy + (reinterpret_cast<std::uint64_t>(array) - run.begin));
  }

 private:
  static constexpr std::uint64_t kAligned = alignof(MethodId) - 1;
  static constexpr std::uint64_t kMostGap = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

  static bool takes(const Run& run, std::uint64_t begin) noexcept {
    return begin >= run.begin && (begin <= run.end || begin - run.end <= kMostGap);
  }

  Scratch& scratch_;
  std::span<Run> runs_;
  std::span<Run*> run_of_;
  std::size_t count_ = 0;
  std::size_t added_ = 0;
};

bool read_frames_by_runs(std::span<const InlinePlace* const> from, std::span<Stretch> stretches,
                         Scratch& scratch) noexcept {
  Runs runs(stretches.size() * 2, scratch);
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    if (!runs.add(from[i]->methods, stretches[i].depth) || !runs.add(from[i]->bytecodes, stretches[i].depth))
      return false;
  }
  if (!runs.read()) return false;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    stretches[i].methods = runs.copy_of(from[i]->methods, 2 * i);
    stretches[i].bytecodes = runs.copy_of(from[i]->bytecodes, 2 * i + 1);
  }
  return true;
}

// Two pieces for each stretch: of methods and of bytecodes.
bool read_frames(std::span<const InlinePlace* const> from, std::span<Stretch> stretches,
                 Scratch& scratch) noexcept {
  if (read_frames_by_runs(from, stretches, scratch)) return true;
  const auto pieces = scratch.take_array<CopyPiece>(stretches.size() * 2);
  if (pieces.empty()) return false;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    const std::size_t depth = stretches[i].depth;
    const auto methods = scratch.take_array<MethodId>(depth);
    const auto bytecodes = scratch.take_array<std::int32_t>(depth);
    if (methods.empty() || bytecodes.empty()) return false;
    pieces[2 * i] = {from[i]->methods, methods.data(), methods.size_bytes()};
    pieces[2 * i + 1] = {from[i]->bytecodes, bytecodes.data(), bytecodes.size_bytes()};
    stretches[i].methods = methods.data();
    stretches[i].bytecodes = bytecodes.data();
  }
  (void)safe_copy(pieces, 0);  // what could not be read is no method
  return true;
}

std::span<const Stretch> from_record(const CompiledMethod& compiled, Scratch& scratch) noexcept {
  const auto places = read_places(compiled.compile_info, scratch);
  const auto stretches = scratch.take_array<Stretch>(places.size());
  const auto from = scratch.take_array<const InlinePlace*>(places.size());
  if (stretches.empty() || from.empty()) return {};
  std::size_t count = 0;
  std::size_t frames = 0;
  std::uint64_t offset = 0;
  for (const InlinePlace& place : places) {
    const std::uint64_t end = reinterpret_cast<std::uint64_t>(place.address) - compiled.address;
    if (end <= offset || end > compiled.size || place.depth <= 0 || place.depth > kMostDepth) continue;
    frames += static_cast<std::size_t>(place.depth);
    if (frames > kMostFrames) break;
    from[count] = &place;
    stretches[count++] = {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(place.depth),
                          nullptr, nullptr};
    offset = end;
  }
  const auto found = stretches.first(count);
  return !found.empty() && read_frames(from.first(count), found, scratch) ? found : std::span<Stretch>{};
}

std::span<const Stretch> from_map(const CompiledMethod& compiled, Scratch& scratch) noexcept {
  const auto map = read_array(compiled.map, compiled.map_length, scratch);
  const auto stretches = scratch.take_array<Stretch>(map.size());
  const auto bytecodes = scratch.take_array<std::int32_t>(map.size());
  const auto method = scratch.take_array<MethodId>(1);
  if (stretches.empty() || bytecodes.empty() || method.empty()) return {};
  method[0] = compiled.method;
  std::size_t count = 0;
  std::uint64_t least = 0;
  for (const CodeStart& start : map) {
    const std::uint64_t offset = reinterpret_cast<std::uint64_t>(start.address) - compiled.address;
    if (offset < least || offset >= compiled.size) continue;
    bytecodes[count] = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(start.bytecode, -1, std::numeric_limits<std::int32_t>::max()));
    stretches[count] = {static_cast<std::uint32_t>(offset), 1, method.data(), &bytecodes[count]};
    least = offset + 1;
    ++count;
  }
  return stretches.first(count);
}

}  // namespace

std::span<const Stretch> stretches_of(const CompiledMethod& compiled, Scratch& scratch) noexcept {
  const auto found = from_record(compiled, scratch);
  return !found.empty() ? found : from_map(compiled, scratch);
}

}  // namespace jitquill::intake::jvmti
