#include "agent/drain/run_outputs.hpp"

#include <algorithm>

#include "agent/base/counters.hpp"
#include "agent/base/folders.hpp"
#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill::drain {

RunOutputs::~RunOutputs() {
  for (std::size_t i = 0; i < count_; ++i) {
    delete outputs_[i].sink;
    delete outputs_[i].streaming;
  }
}

bool RunOutputs::add(const SinkRow& row) noexcept {
  RunSink* const sink = count_ < kMost ? row.make_run() : nullptr;
  if (sink == nullptr) return false;
  outputs_[count_].sink = sink;
  outputs_[count_++].row = &row;
  return true;
}

namespace {

constexpr std::size_t kEndRoom = 2 * 1024;  // for what ends a file

// Whole, or there is none.
Status make_side_file(const RunSink& sink, std::string_view command, Folder& folder) noexcept {
  if (sink.side_file() == nullptr) return Status::kOk;
  const FileName name = file_name(command, sink.side_file());
  GroupFile file;
  Bytes bytes;
  sink.put_side_file(bytes);
  if (bytes.failed()) return Status::kNoMemory;
  Status status = make_file(folder, name.c_str(), file, nullptr);
  if (status == Status::kOk) status = file.append(bytes.view());
  file.close();
  if (!is_done(status)) folder.remove(name.c_str());
  return status;
}

// More than that takes in any format, where it is no runtime's texts.
std::size_t room_for(const Batch& batch) noexcept {
  constexpr std::size_t kOfEvent = 32;
  std::size_t room = batch.events.size() * kOfEvent;
  for (const RunEvent& event : batch.events) {
    if (event.kind == RunEventKind::kPost && event.amount < batch.posts.size())
      room += batch.posts[event.amount].payload.size();
    if (event.kind == RunEventKind::kStack && event.amount < batch.stacks.size())
      room += batch.stacks[event.amount].callers.size_bytes();
  }
  return room;
}

std::size_t room_for(const SampleBatch& batch) noexcept {
  constexpr std::size_t kOfSample = 96, kOfFrame = 8;
  std::size_t room = batch.samples.size() * kOfSample;
  for (const SampleView& sample : batch.samples) room += sample.frames.size() * kOfFrame;
  return room;
}

// The front of a batch: a file can end behind each, but not between an entry and its stack.
std::size_t piece_of(std::span<const RunEvent> events) noexcept {
  constexpr std::size_t kEvents = 256;
  std::size_t size = std::min(kEvents, events.size());
  while (size < events.size() && events[size].kind == RunEventKind::kStack) ++size;
  return size;
}

}  // namespace

Status RunOutputs::begin(Output& output, const Settings& settings, Folder& folder) noexcept {
  const std::uint32_t format = 1u << (output.row - sink_rows().data());
  const bool streams = settings.stream != nullptr && settings.stream->format == format;
  const bool is_limited = output.sink->can_go_on() && settings.limits.bytes != 0;
  RunSettings run = settings.run;
  run.may_go_on = is_limited || streams;
  output.sink->set(run);
  const FileName name = file_name(settings.command, output.row->file);
  if (streams && output.sink->can_go_on() && open_stream(output, settings)) {
    output.file.name(name);
    return output.sink->begin(settings.origin, output.bytes);
  }
  Status status = output.file.create(folder, name);
  if (is_limited) output.file.limit(settings.limits);
  if (status == Status::kOk) status = make_side_file(*output.sink, settings.command, folder);
  if (status == Status::kOk) status = output.sink->begin(settings.origin, output.bytes);
  if (status == Status::kOk) status = output.sink->open_files(folder_, false);
  output.file.began_with(output.bytes.size());
  return status;
}

Status RunOutputs::open(const Settings& settings, Folder& folder, Defined& defined, Say say) noexcept {
  say_ = say;
  most_waiting_ = settings.most_waiting;
  defined_ = &defined;
  folder_.stand_for(folder);
  Status failed = Status::kOk;
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((settings.formats >> i & 1) == 0 || rows[i].make_run == nullptr) continue;
    Status status = Status::kNoMemory;
    if (add(rows[i])) {
      status = begin(outputs_[count_ - 1], settings, folder);
      outputs_[count_ - 1].is_off = status != Status::kOk;
    }
    if (status == Status::kOk) continue;
    if (failed == Status::kOk) failed = status;
    count(Counter::write_errors);
    Message line;
    line.text(rows[i].name).text(": not written: ").text(text(status));
    if (say_ != nullptr) say_(line.view());
  }
  return failed;
}

bool RunOutputs::resume(Folder& folder, Defined& defined, Say say) noexcept {
  say_ = say;
  defined_ = &defined;
  folder_.stand_for(folder);
  bool all = true;
  for (Output& output : std::span(outputs_, count_)) {
    if (output.is_off) continue;
    output.is_off = !output.file.resume(folder) || output.sink->open_files(folder_, true) != Status::kOk;
    output.lacks_start = false;
    all = all && !output.is_off;
  }
  return all;
}

bool RunOutputs::any() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_),
                             [](const Output& output) { return !output.is_off; });
}

bool RunOutputs::wants_code() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_), [](const Output& output) {
    return !output.is_off && output.sink->wants_code();
  });
}

bool RunOutputs::wants_samples() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_), [](const Output& output) {
    return !output.is_off && output.sink->wants_samples();
  });
}

bool RunOutputs::wants_modules() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_), [](const Output& output) {
    return !output.is_off && output.sink->wants_modules();
  });
}

bool RunOutputs::has_bytes() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_), [](const Output& output) {
    return output.bytes.size() > output.refused || !output.file.is_committed();
  });
}

std::uint64_t RunOutputs::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Output& output : std::span(outputs_, count_)) sum += output.file.bytes();
  return sum;
}

void RunOutputs::note(Output& output, Status status) noexcept {
  if (status == Status::kOk) {
    output.failures = 0;
    return;
  }
  count(Counter::write_errors);
  if (++output.failures == 1 && !output.is_said) say_of(output, ": not all of it is there: ", status);
  output.is_said = true;
  if (output.failures < kFailuresToSwitchOff) return;
  output.is_off = true;
  count(Counter::outputs_switched_off);
  say_of(output, ": switched off after three failures in a row: ", status);
}

void RunOutputs::say_of(const Output& output, std::string_view what, Status status) noexcept {
  Message line;
  line.text(output.row->name).text(what).text(text(status));
  if (say_ != nullptr) say_(line.view());
}

template <class Call>
void RunOutputs::encode(Output& output, Call call) noexcept {
  const std::size_t before = output.bytes.size();
  const Status status = call(*output.sink, output.bytes);
  if (status == Status::kOk && !output.bytes.failed()) {
    if (output.bytes.size() >= most_waiting_) write(output);
    return;
  }
  output.bytes.cut(before);
  note(output, status == Status::kOk ? Status::kNoMemory : status);
  if (!output.bytes.failed()) return;
  output.bytes.clear();
  output.refused = 0;
  output.sink->written(false);
}

template <class Call>
void RunOutputs::each(Call call) noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (!output.is_off) encode(output, call);
  }
}

void RunOutputs::define(const FunctionInfo& function) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.define(function, out); });
}

void RunOutputs::code(const CodeNews& news) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.code(news, out); });
}

void RunOutputs::module(const ModuleNews& news) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.module(news, out); });
}

void RunOutputs::batch(const Batch& batch) noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (output.is_off) continue;
    if (output.file.is_limited()) {
      put_in_pieces(output, batch);
    } else {
      encode(output, [&](RunSink& sink, Bytes& out) { return sink.batch(batch, out); });
    }
  }
}

void RunOutputs::put_in_pieces(Output& output, const Batch& batch) noexcept {
  Batch piece = batch;
  for (auto events = batch.events; !events.empty() && !output.is_off;
       events = events.subspan(piece.events.size())) {
    piece.events = events.first(piece_of(events));
    const std::size_t room = std::max(kEndRoom + room_for(piece), output.sink->most_bytes(piece));
    if (output.file.is_full_with(output.bytes.size(), room)) go_on(output);
    encode(output, [&](RunSink& sink, Bytes& out) { return sink.batch(piece, out); });
  }
}

void RunOutputs::cost(const RunCost& cost) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.cost(cost, out); });
}

void RunOutputs::samples(const SampleBatch& batch) noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (output.is_off) continue;
    if (output.file.is_limited()) {
      put_in_pieces(output, batch);
    } else {
      encode(output, [&](RunSink& sink, Bytes& out) { return sink.samples(batch, out); });
    }
  }
}

// One look's are of all CPUs since the last, and may be more than a file has room for.
void RunOutputs::put_in_pieces(Output& output, const SampleBatch& batch) noexcept {
  constexpr std::size_t kSamples = 32;
  SampleBatch piece = batch;
  auto rest = batch.samples;
  do {
    piece.samples = rest.first(std::min(kSamples, rest.size()));
    if (output.file.is_full_with(output.bytes.size(), kEndRoom + room_for(piece))) go_on(output);
    encode(output, [&](RunSink& sink, Bytes& out) { return sink.samples(piece, out); });
    piece.lost = 0;
    rest = rest.subspan(piece.samples.size());
  } while (!rest.empty() && !output.is_off);
}

// Who has come by now is told all, the end too; who comes later, nothing.
void RunOutputs::end(std::uint64_t when_ns) noexcept {
  serve_streams();
  has_ended_ = true;
  each([&](RunSink& sink, Bytes& out) { return sink.end(when_ns, out); });
  for (Output& output : std::span(outputs_, count_)) {
    count_losses(output);
    output.lacks_start = false;  // what is kept for it is tried once more
    output.refused = 0;
  }
}

void RunOutputs::count_losses(Output& output) noexcept {
  const RunLosses now = output.sink->losses();
#define RUN_LOSS(field, name, meaning) count(Counter::name, now.field - output.counted.field);
#include "writer/sink/run_losses.def"
#undef RUN_LOSS
  output.counted = now;
}

// Without its start a file could not be read, so that is kept until there is room, with what follows it.
void RunOutputs::write(Output& output) noexcept {
  if (!output.is_off && output.streaming != nullptr) {
    serve(output);
    return count_losses(output);
  }
  if (!output.is_off && output.bytes.size() > output.refused) {
    const Status status = output.file.append(output.bytes.view());
    if (status == Status::kOk) {
      count(Counter::bytes_written, output.bytes.size());
      output.lacks_start = false;
    }
    note(output, status);
    const bool is_kept = output.lacks_start && !output.is_off;
    if (!is_kept) output.sink->written(status == Status::kOk);
    count_losses(output);
  }
  if (output.is_off || !output.lacks_start) output.bytes.clear();
  output.refused = output.bytes.size();
}

void RunOutputs::append() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    write(output);
    output.file.commit();
  }
}

void RunOutputs::go_on_if_full() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    const std::size_t room = std::max(kEndRoom, output.sink->most_bytes({}));
    if (!output.is_off && output.file.is_full_with(output.bytes.size(), room)) go_on(output);
  }
}

void RunOutputs::remove_old_files() noexcept {
  for (Output& output : std::span(outputs_, count_)) output.file.remove_old();
}

// Killed in between: the journal has the file before, cut to what it says, and no other.
void RunOutputs::go_on(Output& output) noexcept {
  if (!output.file.make_next()) {
    count(Counter::write_errors);
    Message line;
    line.text(output.row->name)
        .text(": no file can be made behind the one that has reached max_bytes; it grows");
    if (say_ != nullptr) say_(line.view());
    return;
  }
  (void)output.sink->leave_off(output.bytes);
  write(output);
  output.file.go_on();
  output.bytes.clear();
  output.lacks_start = true;
  output.refused = 0;
  (void)output.sink->begin_again(output.bytes);
  defined_->define_again({}, *output.sink, output.bytes);
  output.file.began_with(output.bytes.size());
  write(output);
}

void RunOutputs::close_files() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    output.file.close();
    if (output.streaming != nullptr) output.streaming->stream.close();
    output.sink->forget_files();
  }
}

void RunOutputs::put(bool whole, Bytes& state) noexcept {
  state.uleb128(count_);
  for (Output& output : std::span(outputs_, count_)) {
    state_.clear();
    const bool lacks_kept = output.lacks_start && output.refused != 0;
    const bool is_off = output.is_off || output.streaming != nullptr || lacks_kept;  // nobody can write it on
    if (!is_off) whole ? output.sink->put_all(state_) : output.sink->put_changes(state_);
    state.uleb128(output.row->name.size()).raw(output.row->name);
    output.file.put(state);
    state.u8(is_off ? 1 : 0).uleb128(state_.size()).raw(state_.view());
  }
}

bool RunOutputs::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128(kMost);
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::string_view name = state.text();
    const auto row = std::ranges::find(sink_rows(), name, &SinkRow::name);
    if (row == sink_rows().end() || row->make_run == nullptr) return false;
    if (i == count_ && !add(*row)) return false;
    Output& output = outputs_[i];
    if (output.row != &*row || !output.file.apply(state)) return false;
    output.is_off = state.u8() != 0;
    const auto sink_state = state.raw(state.uleb128());
    if (state.failed() || (!output.is_off && !output.sink->apply(sink_state))) return false;
  }
  return !state.failed();
}

}  // namespace jitquill::drain
