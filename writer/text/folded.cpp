// The sink of the format folded (docs/folded.md).
#include <algorithm>
#include <new>

#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"
#include "writer/text/stack_tree.hpp"

namespace jitquill {
namespace {

// Functions of one name are one frame: code that a JIT compiled anew, or at another place.
class FrameNames {
 public:
  bool define(const FunctionInfo& function) noexcept { return texts_.define(function) && know_new(); }
  std::uint32_t frame(FunctionNumber function) const noexcept {
    return function < frames_.size() ? frames_[function] : function;
  }
  std::string_view name(std::uint32_t frame) const noexcept { return texts_.name(frame); }

  void put_new(Bytes& state) noexcept { texts_.put_new(state); }
  void put_all(Bytes& state) noexcept { texts_.put_all(state); }
  bool apply(ByteSource& state) noexcept { return texts_.apply(state) && know_new(); }

 private:
  // As the file shows them.
  static char shown(char c) noexcept { return c == ';' ? ':' : c; }
  static bool is_same(std::string_view a, std::string_view b) noexcept {
    return std::ranges::equal(a, b, {}, shown, shown);
  }
  // FNV-1a.
  static std::uint64_t hash(std::string_view name) noexcept {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(shown(c))) * 0x100000001B3;
    return hash;
  }
  bool know_new() noexcept {
    while (frames_.size() < texts_.size()) {
      const auto number = static_cast<FunctionNumber>(frames_.size());
      const std::string_view name = texts_.name(number);
      std::uint64_t key = hash(name);
      std::uint32_t same = by_name_.find(key);
      while (same != NumberTable::kNone && !is_same(texts_.name(same), name)) same = by_name_.find(++key);
      if (same == NumberTable::kNone && !by_name_.put(key, number)) return false;
      if (!frames_.push(same == NumberTable::kNone ? number : same)) return false;
    }
    return true;
  }

  FunctionTexts texts_;
  GrowingArray<std::uint32_t> frames_;  // by function: the first one of its name
  NumberTable by_name_;
};

// Where a stack of a thread is in the tree.
struct Place {
  std::uint32_t node = StackTree::kRoot;
  std::uint32_t inside = 0;  // so many frames are open that have no node of their own
};

class FoldedSink final : public RunSink {
 public:
  ~FoldedSink() override;
  bool wants_samples() const noexcept override { return true; }
  Status begin(const Origin&, Bytes&) noexcept override { return Status::kOk; }  // all comes at the end
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status batch(const Batch& batch, Bytes& out) noexcept override;
  Status samples(const SampleBatch& batch, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  void put_changes(Bytes& state) noexcept override;
  void put_all(Bytes& state) noexcept override;
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  using Stacks = GrowingArray<Place>;  // of one thread

  bool add(std::uint32_t node, const StackTree::Sums& sums) noexcept;
  bool take(const SampleView& sample) noexcept;
  Stacks* stacks_of(std::uint32_t thread) noexcept;
  bool take(Stacks& stacks, const RunEvent& event) noexcept;
  bool enter(Place& place, const RunEvent& event) noexcept;
  bool leave(Place& place, const RunEvent& event) noexcept;
  void put_stacks(std::uint32_t thread, Bytes& state) noexcept;
  bool apply_stacks(ByteSource& source) noexcept;

  FrameNames names_;
  StackTree tree_;
  GrowingArray<Stacks*> threads_;  // by number; null = nothing was open
  GrowingArray<std::uint32_t> touched_threads_;
  bool has_samples_ = false;
};

FoldedSink::~FoldedSink() {
  for (Stacks* stacks : threads_.all()) delete stacks;
}

Status FoldedSink::define(const FunctionInfo& function, Bytes&) noexcept {
  return names_.define(function) ? Status::kOk : Status::kNoMemory;
}

bool FoldedSink::add(std::uint32_t node, const StackTree::Sums& sums) noexcept {
  return node != StackTree::kNone && tree_.add(node, sums);
}

bool FoldedSink::take(const SampleView& sample) noexcept {
  std::uint32_t node = StackTree::kRoot;
  const auto descend = [&](std::uint32_t frame) {
    if (node != StackTree::kNone) node = tree_.child(node, frame);
  };
  if (!sample.has_end) descend(StackTree::kPartial);
  for (std::size_t i = sample.frames.size(); i-- > 0;) descend(names_.frame(sample.frames[i].function));
  if (sample.is_kernel) descend(StackTree::kKernel);
  return add(node, {.samples = 1});
}

Status FoldedSink::samples(const SampleBatch& batch, Bytes&) noexcept {
  bool has_memory = true;
  has_samples_ = true;
  if (batch.lost != 0)
    has_memory = add(tree_.child(StackTree::kRoot, StackTree::kLost), {.samples = batch.lost});
  for (const SampleView& sample : batch.samples) has_memory = take(sample) && has_memory;
  return has_memory ? Status::kOk : Status::kNoMemory;
}

FoldedSink::Stacks* FoldedSink::stacks_of(std::uint32_t thread) noexcept {
  if (!threads_.grow_to(thread + std::size_t{1}, nullptr)) return nullptr;
  if (threads_[thread] == nullptr) threads_[thread] = new (std::nothrow) Stacks;
  return threads_[thread];
}

bool FoldedSink::enter(Place& place, const RunEvent& event) noexcept {
  const std::uint32_t node =
      place.inside != 0 ? StackTree::kNone : tree_.child(place.node, names_.frame(event.function));
  if (node == StackTree::kNone || tree_.is_more(node)) {
    ++place.inside;
    return place.inside != 1 || node != StackTree::kNone;
  }
  place.node = node;
  return true;
}

// Time of its own. What has no node is the nearest [more]'s.
bool FoldedSink::leave(Place& place, const RunEvent& event) noexcept {
  const std::uint64_t lasted_ns = event.when_ns - event.since_ns;
  const StackTree::Sums own{.ns = lasted_ns - std::min(event.amount, lasted_ns)};
  if (place.inside != 0) {
    --place.inside;
    return add(tree_.child(place.node, StackTree::kMore), own);
  }
  if (place.node == StackTree::kRoot) return true;
  const bool is_added = add(place.node, own);
  place.node = tree_.parent(place.node);
  return is_added;
}

bool FoldedSink::take(Stacks& stacks, const RunEvent& event) noexcept {
  if (event.kind > RunEventKind::kLeave) return true;
  if (!stacks.grow_to(event.stack + std::size_t{1}, Place{})) return false;
  Place& place = stacks[event.stack];
  return event.kind == RunEventKind::kEnter ? enter(place, event) : leave(place, event);
}

Status FoldedSink::batch(const Batch& batch, Bytes&) noexcept {
  Stacks* const stacks = stacks_of(batch.thread.number);
  if (stacks == nullptr) return Status::kNoMemory;
  const bool is_last = touched_threads_.size() != 0 && touched_threads_.back() == batch.thread.number;
  if (!is_last && !touched_threads_.push(batch.thread.number)) return Status::kNoMemory;
  bool has_memory = true;
  for (const RunEvent& event : batch.events) has_memory = take(*stacks, event) && has_memory;
  return has_memory ? Status::kOk : Status::kNoMemory;
}

// | texts | tree | has samples | threads: count, {thread, stacks: count, {node, inside}} |, all uleb128.
// Values replace.
void FoldedSink::put_stacks(std::uint32_t thread, Bytes& state) noexcept {
  const Stacks* const stacks = threads_[thread];
  state.uleb128(thread).uleb128(stacks == nullptr ? 0 : stacks->size());
  if (stacks == nullptr) return;
  for (const Place& place : stacks->all()) state.uleb128(place.node).uleb128(place.inside);
}

void FoldedSink::put_changes(Bytes& state) noexcept {
  names_.put_new(state);
  tree_.put_new(state);
  state.u8(has_samples_ ? 1 : 0).uleb128(touched_threads_.size());
  for (const std::uint32_t thread : touched_threads_.all()) put_stacks(thread, state);
  touched_threads_.clear();
}

void FoldedSink::put_all(Bytes& state) noexcept {
  names_.put_all(state);
  tree_.put_all(state);
  state.u8(has_samples_ ? 1 : 0).uleb128(threads_.size());
  for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) put_stacks(thread, state);
  touched_threads_.clear();
}

bool FoldedSink::apply_stacks(ByteSource& source) noexcept {
  constexpr std::uint64_t kMostThreads = 1u << 28, kMostStacks = 1u << 16;
  const std::uint64_t threads = source.uleb128();
  for (std::uint64_t i = 0; i < threads && !source.failed(); ++i) {
    const auto thread = static_cast<std::uint32_t>(source.uleb128(kMostThreads));
    const std::uint64_t count = source.uleb128(kMostStacks);
    if (source.failed()) return false;
    Stacks* const stacks = count == 0 ? nullptr : stacks_of(thread);
    if (count != 0 && (stacks == nullptr || !stacks->grow_to(count, Place{}))) return false;
    for (std::uint64_t j = 0; j < count && !source.failed(); ++j) {
      const auto node = static_cast<std::uint32_t>(source.uleb128(0xFFFFFFFF));
      (*stacks)[j] = {node, static_cast<std::uint32_t>(source.uleb128(0xFFFFFFFF))};
      if (node != StackTree::kRoot && node >= tree_.size()) return false;
    }
  }
  return !source.failed();
}

bool FoldedSink::apply(std::span<const std::uint8_t> state) noexcept {
  ByteSource source(state);
  if (!names_.apply(source) || !tree_.apply(source)) return false;
  has_samples_ = source.u8() != 0;
  return apply_stacks(source) && source.is_at_end();
}

Status FoldedSink::end(std::uint64_t, Bytes& out) noexcept {
  const auto name_of = [](const void* names, std::uint32_t frame) {
    return static_cast<const FrameNames*>(names)->name(frame);
  };
  const auto sum = has_samples_ ? &StackTree::Sums::samples : &StackTree::Sums::ns;
  return tree_.put_lines(sum, name_of, &names_, out) ? Status::kOk : Status::kNoMemory;
}

}  // namespace

RunSink* make_folded_sink() noexcept {
  return new (std::nothrow) FoldedSink;
}

}  // namespace jitquill
