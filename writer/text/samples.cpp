// The sink of the format samples (docs/samples.md).
#include <algorithm>
#include <new>

#include "writer/bytes/decimal.hpp"
#include "writer/sink/function_texts.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill {
namespace {

struct Figures {
  std::uint64_t self = 0;     // it was the innermost
  std::uint64_t total = 0;    // it was in the stack
  std::uint64_t kernel = 0;   // of self: the kernel ran on its behalf
  std::uint64_t seen_in = 0;  // the number of the last sample that it was in
  bool is_touched = false;    // since the state was put
};

// What is behind the rows.
struct Sums {
  std::uint64_t samples = 0;
  std::uint64_t partial = 0;
  std::uint64_t lost = 0;
};

class SamplesSink final : public RunSink {
 public:
  bool wants_samples() const noexcept override { return true; }
  Status begin(const Origin&, Bytes&) noexcept override { return Status::kOk; }  // all comes at the end
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status batch(const Batch&, Bytes&) noexcept override { return Status::kOk; }
  Status samples(const SampleBatch& batch, Bytes& out) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  void put_changes(Bytes& state) noexcept override;
  void put_all(Bytes& state) noexcept override;
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  bool take(const SampleView& sample) noexcept;
  bool touch(FunctionNumber function) noexcept;
  void put_sums(Bytes& state) noexcept;
  void put_figures(FunctionNumber function, Bytes& state) noexcept;
  void forget_changes() noexcept;
  bool sort(GrowingArray<FunctionNumber>& order) noexcept;
  void put_row(FunctionNumber function, Bytes& out) noexcept;
  static void put_sum(std::uint64_t sum, std::string_view words, Bytes& out) noexcept;

  FunctionTexts texts_;
  GrowingArray<Figures> figures_;  // by function
  GrowingArray<FunctionNumber> touched_;
  Sums sums_;
};

Status SamplesSink::define(const FunctionInfo& function, Bytes&) noexcept {
  const bool is_kept = texts_.define(function) && figures_.grow_to(texts_.size(), Figures{});
  return is_kept ? Status::kOk : Status::kNoMemory;
}

bool SamplesSink::touch(FunctionNumber function) noexcept {
  if (figures_[function].is_touched) return true;
  return figures_[function].is_touched = touched_.push(function);
}

// Of a recursion each function counts once.
bool SamplesSink::take(const SampleView& sample) noexcept {
  bool has_memory = true;
  ++sums_.samples;
  sums_.partial += sample.is_partial ? 1 : 0;
  for (const SampleFrame& frame : sample.frames) {
    if (frame.function >= figures_.size()) continue;
    Figures& row = figures_[frame.function];
    has_memory = touch(frame.function) && has_memory;
    const bool is_innermost = &frame == sample.frames.data();
    row.self += is_innermost ? 1 : 0;
    row.kernel += is_innermost && sample.is_kernel ? 1 : 0;
    row.total += row.seen_in != sums_.samples ? 1 : 0;
    row.seen_in = sums_.samples;
  }
  return has_memory;
}

Status SamplesSink::samples(const SampleBatch& batch, Bytes&) noexcept {
  bool has_memory = true;
  sums_.lost += batch.lost;
  for (const SampleView& sample : batch.samples) has_memory = take(sample) && has_memory;
  return has_memory ? Status::kOk : Status::kNoMemory;
}

// | texts | samples | partial | lost | figures: count, {function, self, total, kernel} |, all uleb128. Values
// replace.
void SamplesSink::put_sums(Bytes& state) noexcept {
  state.uleb128(sums_.samples).uleb128(sums_.partial).uleb128(sums_.lost);
}

void SamplesSink::put_figures(FunctionNumber function, Bytes& state) noexcept {
  const Figures& row = figures_[function];
  state.uleb128(function).uleb128(row.self).uleb128(row.total).uleb128(row.kernel);
}

void SamplesSink::put_changes(Bytes& state) noexcept {
  texts_.put_new(state);
  put_sums(state);
  state.uleb128(touched_.size());
  for (const FunctionNumber function : touched_.all()) put_figures(function, state);
  forget_changes();
}

void SamplesSink::put_all(Bytes& state) noexcept {
  texts_.put_all(state);
  put_sums(state);
  state.uleb128(figures_.size());
  for (FunctionNumber function = 0; function < figures_.size(); ++function) put_figures(function, state);
  forget_changes();
}

void SamplesSink::forget_changes() noexcept {
  for (const FunctionNumber function : touched_.all()) figures_[function].is_touched = false;
  touched_.clear();
}

bool SamplesSink::apply(std::span<const std::uint8_t> state) noexcept {
  ByteSource source(state);
  if (!texts_.apply(source) || !figures_.grow_to(texts_.size(), Figures{})) return false;
  sums_.samples = source.uleb128();
  sums_.partial = source.uleb128();
  sums_.lost = source.uleb128();
  const std::uint64_t count = source.uleb128();
  for (std::uint64_t i = 0; i < count && !source.failed(); ++i) {
    const std::uint64_t function = source.uleb128();
    Figures row;
    row.self = source.uleb128();
    row.total = source.uleb128();
    row.kernel = source.uleb128();
    if (function >= figures_.size()) return false;
    figures_[static_cast<std::size_t>(function)] = row;
  }
  return !source.failed() && source.is_at_end();
}

// Most samples of its own first; what is equal as it was first seen.
bool SamplesSink::sort(GrowingArray<FunctionNumber>& order) noexcept {
  for (FunctionNumber function = 0; function < figures_.size(); ++function) {
    if (figures_[function].total != 0 && !order.push(function)) return false;
  }
  std::ranges::sort(order.all(), [&](FunctionNumber a, FunctionNumber b) {
    const Figures& of_a = figures_[a];
    const Figures& of_b = figures_[b];
    if (of_a.self != of_b.self) return of_a.self > of_b.self;
    return of_a.total != of_b.total ? of_a.total > of_b.total : a < b;
  });
  return true;
}

void SamplesSink::put_row(FunctionNumber function, Bytes& out) noexcept {
  const Figures& row = figures_[function];
  for (const std::uint64_t figure : {row.self, row.total, row.kernel})
    out.raw(Decimal(figure).view()).u8('\t');
  out.raw(texts_.name(function)).u8('\t').raw(texts_.file(function));
  if (texts_.line(function) != 0) out.u8(':').raw(Decimal(texts_.line(function)).view());
  out.u8('\n');
}

void SamplesSink::put_sum(std::uint64_t sum, std::string_view words, Bytes& out) noexcept {
  if (sum != 0) out.raw(std::string_view("# ")).raw(Decimal(sum).view()).raw(words);
}

Status SamplesSink::end(std::uint64_t, Bytes& out) noexcept {
  GrowingArray<FunctionNumber> order;
  if (!sort(order)) return Status::kNoMemory;
  out.raw(std::string_view("self\ttotal\tkernel\tfunction\tfile:line\n"));
  for (const FunctionNumber function : order.all()) put_row(function, out);
  put_sum(sums_.samples, " samples\n", out);
  put_sum(sums_.partial, " of them with frames missing\n", out);
  put_sum(sums_.lost, " samples lost\n", out);
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

}  // namespace

RunSink* make_samples_sink() noexcept {
  return new (std::nothrow) SamplesSink;
}

}  // namespace jitquill
