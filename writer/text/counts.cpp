// The sink of the format counts (docs/counts.md).
#include <algorithm>
#include <new>

#include "writer/bytes/decimal.hpp"
#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"
#include "writer/text/open_counts.hpp"

namespace jitquill {
namespace {

struct Figures {
  std::uint64_t calls = 0;
  std::uint64_t total_ns = 0;
  std::uint64_t self_ns = 0;
  std::uint64_t min_ns = ~std::uint64_t{0};
  std::uint64_t max_ns = 0;
  std::uint64_t is_touched = 0;  // since the state was put
};

class CountsSink final : public RunSink {
 public:
  ~CountsSink() override;
  Status begin(const Origin&, Bytes&) noexcept override { return Status::kOk; }  // all comes at the end
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status batch(const Batch& batch, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  void put_changes(Bytes& state) noexcept override;
  void put_all(Bytes& state) noexcept override;
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  OpenCounts* thread(std::uint32_t number) noexcept;
  void take(Figures& row, OpenCounts& open, const RunEvent& event) noexcept;
  void take_other(OpenCounts& open, const RunEvent& event) noexcept;
  void touch(FunctionNumber function) noexcept;
  void put_figures(FunctionNumber function, Bytes& state) noexcept;
  void put_open(std::uint32_t thread, std::span<const FunctionNumber> functions, Bytes& state) noexcept;
  void forget_changes() noexcept;
  bool apply_figures(ByteSource& source) noexcept;
  bool apply_open(ByteSource& source) noexcept;
  bool sort(GrowingArray<FunctionNumber>& order) noexcept;
  void put_row(FunctionNumber function, Bytes& out) noexcept;

  FunctionTexts texts_;
  GrowingArray<Figures> figures_;      // by function
  GrowingArray<OpenCounts*> threads_;  // by number; null = nothing open
  GrowingArray<FunctionNumber> touched_;
  GrowingArray<std::uint32_t> touched_threads_;
  std::uint64_t lost_ = 0;
  bool has_memory_ = true;
};

CountsSink::~CountsSink() {
  for (OpenCounts* open : threads_.all()) delete open;
}

Status CountsSink::define(const FunctionInfo& function, Bytes&) noexcept {
  const bool is_kept = texts_.define(function) && figures_.grow_to(texts_.size(), Figures{});
  return is_kept ? Status::kOk : Status::kNoMemory;
}

OpenCounts* CountsSink::thread(std::uint32_t number) noexcept {
  if (!threads_.grow_to(number + std::size_t{1}, nullptr)) return nullptr;
  if (threads_[number] == nullptr) threads_[number] = new (std::nothrow) OpenCounts;
  return threads_[number];
}

void CountsSink::touch(FunctionNumber function) noexcept {
  figures_[function].is_touched = 1;
  if (!touched_.push(function)) has_memory_ = false;
}

// An entry or an exit: without a branch that depends on which, since no CPU can guess that of a program.
inline void CountsSink::take(Figures& row, OpenCounts& open, const RunEvent& event) noexcept {
  if (row.is_touched == 0) [[unlikely]]
    touch(event.function);
  std::uint32_t* const place = open.of(event.function);
  if (place == nullptr) [[unlikely]] {
    has_memory_ = false;
    return;
  }
  const std::uint32_t is_exit = event.kind == RunEventKind::kLeave ? 1 : 0;
  const std::uint64_t exit_mask = 0 - std::uint64_t{is_exit};
  const std::uint64_t lasted_ns = (event.when_ns - event.since_ns) & exit_mask;
  const std::uint32_t count = *place;
  *place = count + 1 - 2 * is_exit;
  const std::uint64_t is_inside = (1 - std::uint64_t{count}) >> 63;  // another's, whose time has its own
  row.calls += is_exit;
  row.total_ns += lasted_ns & (is_inside - 1);
  row.self_ns += lasted_ns - std::min(event.amount, lasted_ns);
  if (lasted_ns > row.max_ns) [[unlikely]]
    row.max_ns = lasted_ns;
  if ((lasted_ns | ~exit_mask) < row.min_ns) [[unlikely]]
    row.min_ns = lasted_ns;
}

void CountsSink::take_other(OpenCounts& open, const RunEvent& event) noexcept {
  if (event.kind == RunEventKind::kLost) lost_ += event.amount;
  if (event.kind == RunEventKind::kThreadEnd) open.clear();  // all of its frames have ended
}

Status CountsSink::batch(const Batch& batch, Bytes&) noexcept {
  OpenCounts* const open = thread(batch.thread.number);
  if (open == nullptr) return Status::kNoMemory;
  const bool is_last = touched_threads_.size() != 0 && touched_threads_.back() == batch.thread.number;
  if (!is_last && !touched_threads_.push(batch.thread.number)) return Status::kNoMemory;
  const auto figures = figures_.all();
  for (const RunEvent& event : batch.events) {
    const bool is_of_frame = event.kind <= RunEventKind::kLeave && event.function < figures.size();
    if (is_of_frame) [[likely]]
      take(figures[event.function], *open, event);
    else
      take_other(*open, event);
  }
  return has_memory_ ? Status::kOk : Status::kNoMemory;
}

// | texts | lost | figures: count, {function, calls, total, self, min, max} | threads: count, {thread,
// functions, {function, open}} |, all uleb128. Values replace.
void CountsSink::put_changes(Bytes& state) noexcept {
  texts_.put_new(state);
  state.uleb128(lost_).uleb128(touched_.size());
  for (const FunctionNumber function : touched_.all()) put_figures(function, state);
  const auto threads = touched_threads_.all();
  std::ranges::sort(threads);
  // Not std::ranges: clang 14 cannot compile what it answers.
  touched_threads_.cut(
      static_cast<std::size_t>(std::unique(threads.begin(), threads.end()) - threads.begin()));
  state.uleb128(touched_threads_.size());
  for (const std::uint32_t number : touched_threads_.all()) put_open(number, touched_.all(), state);
  forget_changes();
}

void CountsSink::put_all(Bytes& state) noexcept {
  texts_.put_all(state);
  state.uleb128(lost_).uleb128(figures_.size());
  for (FunctionNumber function = 0; function < figures_.size(); ++function) put_figures(function, state);
  state.uleb128(threads_.size());
  GrowingArray<FunctionNumber> open;
  for (std::uint32_t number = 0; number < threads_.size(); ++number) {
    open.clear();
    const FunctionNumber limit = threads_[number] == nullptr ? 0 : threads_[number]->limit();
    for (FunctionNumber function = 0; function < limit; ++function) {
      if (threads_[number]->count(function) != 0 && !open.push(function)) has_memory_ = false;
    }
    put_open(number, open.all(), state);
  }
  forget_changes();
}

void CountsSink::put_figures(FunctionNumber function, Bytes& state) noexcept {
  const Figures& row = figures_[function];
  state.uleb128(function).uleb128(row.calls).uleb128(row.total_ns).uleb128(row.self_ns);
  state.uleb128(row.min_ns).uleb128(row.max_ns);
}

void CountsSink::put_open(std::uint32_t thread, std::span<const FunctionNumber> functions,
                          Bytes& state) noexcept {
  const OpenCounts* const open = threads_[thread];
  state.uleb128(thread).uleb128(functions.size());
  for (const FunctionNumber function : functions)
    state.uleb128(function).uleb128(open == nullptr ? 0 : open->count(function));
}

void CountsSink::forget_changes() noexcept {
  for (const FunctionNumber function : touched_.all()) figures_[function].is_touched = 0;
  touched_.clear();
  touched_threads_.clear();
}

bool CountsSink::apply_figures(ByteSource& source) noexcept {
  const std::uint64_t count = source.uleb128();
  for (std::uint64_t i = 0; i < count && !source.failed(); ++i) {
    const std::uint64_t function = source.uleb128();
    Figures row;
    row.calls = source.uleb128();
    row.total_ns = source.uleb128();
    row.self_ns = source.uleb128();
    row.min_ns = source.uleb128();
    row.max_ns = source.uleb128();
    if (function >= figures_.size()) return false;
    figures_[static_cast<std::size_t>(function)] = row;
  }
  return !source.failed();
}

bool CountsSink::apply_open(ByteSource& source) noexcept {
  constexpr std::uint64_t kMostThreads = 1u << 28;
  const std::uint64_t threads = source.uleb128();
  for (std::uint64_t i = 0; i < threads && !source.failed(); ++i) {
    const auto number = static_cast<std::uint32_t>(source.uleb128(kMostThreads));
    const std::uint64_t functions = source.uleb128();
    OpenCounts* open = nullptr;
    for (std::uint64_t j = 0; j < functions && !source.failed(); ++j) {
      const std::uint64_t function = source.uleb128();
      const std::uint64_t count = source.uleb128(0xFFFFFFFF);
      if (function >= figures_.size()) return false;
      if (open == nullptr) open = thread(number);
      std::uint32_t* const at = open == nullptr ? nullptr : open->of(static_cast<FunctionNumber>(function));
      if (at == nullptr) return false;
      *at = static_cast<std::uint32_t>(count);
    }
  }
  return !source.failed();
}

bool CountsSink::apply(std::span<const std::uint8_t> state) noexcept {
  ByteSource source(state);
  if (!texts_.apply(source) || !figures_.grow_to(texts_.size(), Figures{})) return false;
  lost_ = source.uleb128();
  return apply_figures(source) && apply_open(source) && source.is_at_end();
}

// Most time of its own first; what is equal as it was first called.
bool CountsSink::sort(GrowingArray<FunctionNumber>& order) noexcept {
  for (FunctionNumber function = 0; function < figures_.size(); ++function) {
    if (figures_[function].calls != 0 && !order.push(function)) return false;
  }
  std::ranges::sort(order.all(), [&](FunctionNumber a, FunctionNumber b) {
    const std::uint64_t self_a = figures_[a].self_ns;
    const std::uint64_t self_b = figures_[b].self_ns;
    return self_a != self_b ? self_a > self_b : a < b;
  });
  return true;
}

void CountsSink::put_row(FunctionNumber function, Bytes& out) noexcept {
  const Figures& row = figures_[function];
  for (const std::uint64_t figure : {row.calls, row.total_ns, row.self_ns, row.min_ns, row.max_ns})
    out.raw(Decimal(figure).view()).u8('\t');
  out.raw(texts_.name(function)).u8('\t').raw(texts_.file(function));
  if (texts_.line(function) != 0) out.u8(':').raw(Decimal(texts_.line(function)).view());
  out.u8('\n');
}

Status CountsSink::end(std::uint64_t, Bytes& out) noexcept {
  GrowingArray<FunctionNumber> order;
  if (!sort(order)) return Status::kNoMemory;
  out.raw(std::string_view("calls\ttotal_ns\tself_ns\tmin_ns\tmax_ns\tfunction\tfile:line\n"));
  for (const FunctionNumber function : order.all()) put_row(function, out);
  if (lost_ != 0)
    out.raw(std::string_view("# ")).raw(Decimal(lost_).view()).raw(std::string_view(" records lost\n"));
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

}  // namespace

RunSink* make_counts_sink() noexcept {
  return new (std::nothrow) CountsSink;
}

}  // namespace jitquill
