#include "agent/drain/run_outputs.hpp"

#include <algorithm>
#include <cerrno>

#include "agent/base/counters.hpp"
#include "agent/base/folders.hpp"
#include "agent/base/guest_call.hpp"
#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill::drain {

RunOutputs::~RunOutputs() {
  for (std::size_t i = 0; i < count_; ++i) delete outputs_[i].sink;
}

bool RunOutputs::add(const SinkRow& row) noexcept {
  RunSink* const sink = count_ < kMost ? row.make_run() : nullptr;
  if (sink == nullptr) return false;
  outputs_[count_].sink = sink;
  outputs_[count_++].row = &row;
  return true;
}

namespace {

// Too long: without the command's.
void name_file(std::string_view command, const char* file, FixedText<64>& name) noexcept {
  Message all;
  const bool is_of_command = *file == '.' && !command.empty();
  if (!is_of_command || !name.set(all.text(command).text(file).view())) (void)name.set(file);
}

// Whole, or there is none.
Status make_side_file(const RunSink& sink, std::string_view command, Folder& folder) noexcept {
  if (sink.side_file() == nullptr) return Status::kOk;
  FixedText<64> name;
  GroupFile file;
  Bytes bytes;
  name_file(command, sink.side_file(), name);
  sink.put_side_file(bytes);
  if (bytes.failed()) return Status::kNoMemory;
  Status status = make_file(folder, name.c_str(), file, nullptr);
  if (status == Status::kOk) status = file.append(bytes.view());
  file.close();
  if (!is_done(status)) folder.remove(name.c_str());
  return status;
}

}  // namespace

Status RunOutputs::open(const Settings& settings, Folder& folder, Say say) noexcept {
  say_ = say;
  path_ = folder.path();
  most_waiting_ = settings.most_waiting;
  Status failed = Status::kOk;
  const auto rows = sink_rows();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((settings.formats >> i & 1) == 0 || rows[i].make_run == nullptr) continue;
    Status status = add(rows[i]) ? Status::kOk : Status::kNoMemory;
    if (status == Status::kOk) {
      Output& output = outputs_[count_ - 1];
      // No budget: that is the leaf lock's, and only code is followed into the next folder.
      name_file(settings.command, rows[i].file, output.name);
      status = make_file(folder, output.name.c_str(), output.file, nullptr);
      output.sink->set(settings.run);
      if (status == Status::kOk) status = make_side_file(*output.sink, settings.command, folder);
      if (status == Status::kOk) status = output.sink->begin(settings.origin, output.bytes);
      output.is_off = status != Status::kOk;
    }
    if (status != Status::kOk && failed == Status::kOk) failed = status;
  }
  return failed;
}

bool RunOutputs::resume(Folder& folder, Say say) noexcept {
  say_ = say;
  bool all = true;
  for (std::size_t i = 0; i < count_; ++i) {
    Output& output = outputs_[i];
    if (output.is_off) continue;
    const int descriptor = folder.create(output.name.c_str());
    struct stat status {};
    const bool has_all = descriptor >= 0 && raw::status_of(descriptor, status) == 0 &&
                         static_cast<std::uint64_t>(status.st_size) >= output.committed &&
                         raw::truncate(descriptor, output.committed) == 0;
    output.is_off = !has_all;
    all = all && has_all;
    if (has_all) output.file.adopt(descriptor);
    if (!has_all && descriptor >= 0) raw::close(descriptor);
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

bool RunOutputs::has_bytes() const noexcept {
  return std::ranges::any_of(std::span(outputs_, count_), [](const Output& output) {
    return output.bytes.size() != 0 || output.file.size() != output.committed;
  });
}

std::uint64_t RunOutputs::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const Output& output : std::span(outputs_, count_)) sum += output.committed;
  return sum;
}

void RunOutputs::note(Output& output, Status status) noexcept {
  if (status == Status::kOk) {
    output.failures = 0;
    return;
  }
  count(Counter::write_errors);
  if (status == Status::kNoSpace) take_caused_signal(-EFBIG);  // of a host's thread, which ends the process
  if (++output.failures < kFailuresToSwitchOff) return;
  output.is_off = true;
  count(Counter::outputs_switched_off);
  Message line;
  line.text(output.row->name).text(": switched off after three failures in a row: ").text(text(status));
  if (say_ != nullptr) say_(line.view());
}

template <class Call>
void RunOutputs::each(Call call) noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (output.is_off) continue;
    const std::size_t before = output.bytes.size();
    const Status status = call(*output.sink, output.bytes);
    if (status == Status::kOk && !output.bytes.failed()) {
      if (output.bytes.size() >= most_waiting_) write(output);
      continue;
    }
    output.bytes.cut(before);
    note(output, status == Status::kOk ? Status::kNoMemory : status);
    if (output.bytes.failed()) output.bytes.clear();
  }
}

void RunOutputs::define(const FunctionInfo& function) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.define(function, out); });
}

void RunOutputs::code(const CodeNews& news) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.code(news, out); });
}

void RunOutputs::batch(const Batch& batch) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.batch(batch, out); });
}

void RunOutputs::samples(const SampleBatch& batch) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.samples(batch, out); });
}

void RunOutputs::end(std::uint64_t when_ns) noexcept {
  each([&](RunSink& sink, Bytes& out) { return sink.end(when_ns, out); });
  for (Output& output : std::span(outputs_, count_)) count_losses(output);
}

void RunOutputs::count_losses(Output& output) noexcept {
  const RunLosses now = output.sink->losses();
  count(Counter::eventlog_events_refused, now.refused - output.counted.refused);
  count(Counter::eventlog_events_cut, now.cut - output.counted.cut);
  count(Counter::eventlog_without_capability, now.without_capability - output.counted.without_capability);
  count(Counter::openj9_texts_cut, now.texts_cut - output.counted.texts_cut);
  output.counted = now;
}

// Daemons close every descriptor. What stands under our path now must be the file that we had.
bool RunOutputs::open_again(Output& output) noexcept {
  if (*path_ == '\0' || output.file.is_ours()) return false;
  const int descriptor = folders::open_file(path_, output.name.c_str());
  if (descriptor < 0) return false;
  if (!output.file.take_back(descriptor)) {
    raw::close(descriptor);
    return false;
  }
  count(Counter::outputs_opened_again);
  return true;
}

void RunOutputs::write(Output& output) noexcept {
  if (!output.is_off && output.bytes.size() != 0) {
    Status status = output.file.append(output.bytes.view());
    if (status != Status::kOk && open_again(output)) status = output.file.append(output.bytes.view());
    note(output, status);
    count_losses(output);
  }
  output.bytes.clear();
}

void RunOutputs::append() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    write(output);
    output.committed = output.file.size();
  }
}

void RunOutputs::close_files() noexcept {
  for (Output& output : std::span(outputs_, count_)) output.file.close();
}

void RunOutputs::put(bool whole, Bytes& state) noexcept {
  state.uleb128(count_);
  for (Output& output : std::span(outputs_, count_)) {
    state_.clear();
    if (!output.is_off) whole ? output.sink->put_all(state_) : output.sink->put_changes(state_);
    state.uleb128(output.row->name.size()).raw(output.row->name);
    state.uleb128(output.name.view().size()).raw(output.name.view());
    state.u64(output.committed).u8(output.is_off ? 1 : 0).uleb128(state_.size()).raw(state_.view());
  }
}

bool RunOutputs::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128(kMost);
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::string_view name = state.text();
    const std::string_view file = state.text();
    const std::uint64_t committed = state.u64();
    const bool is_off = state.u8() != 0;
    const auto sink_state = state.raw(state.uleb128());
    if (state.failed()) return false;
    const auto row = std::ranges::find(sink_rows(), name, &SinkRow::name);
    if (row == sink_rows().end() || row->make_run == nullptr) return false;
    if (i == count_ && !add(*row)) return false;
    Output& output = outputs_[i];
    if (output.row != &*row) return false;
    if (file.empty() || file.find('/') != file.npos || !output.name.set(file)) return false;
    output.committed = committed;
    output.is_off = is_off;
    if (!is_off && !output.sink->apply(sink_state)) return false;
  }
  return !state.failed();
}

}  // namespace jitquill::drain
