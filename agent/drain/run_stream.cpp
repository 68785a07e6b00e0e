// The part of RunOutputs that serves who reads a stream.
#include "agent/drain/run_outputs.hpp"

#include <new>

#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"

namespace jitquill::drain {

using State = StreamReader::State;

// Where it cannot be a stream it is a file, so that nothing is lost.
bool RunOutputs::open_stream(Output& output, const Settings& settings) noexcept {
  auto* const streaming = new (std::nothrow) Streaming;
  if (streaming == nullptr) return false;
  if (streaming->stream.open(*settings.stream, settings.stream_path) == Status::kOk) {
    output.streaming = streaming;
    return true;
  }
  Message line;
  line.text(output.row->name)
      .text(": written to a file, since there is no stream: ")
      .text(streaming->stream.why());
  if (say_ != nullptr) say_(line.view());
  delete streaming;
  return false;
}

// What was encoded goes to those who have all in front of it, then others begin.
void RunOutputs::serve(Output& output) noexcept {
  Stream& stream = output.streaming->stream;
  if (!has_ended_) stream.look();
  if (stream.has_new()) (void)output.sink->settle(output.bytes);
  stream.put(output.bytes.view());
  output.bytes.clear();
  stream.flush();
  for (std::size_t i = 0; i < Stream::kMostReaders && !has_ended_; ++i)
    serve_reader(output, stream.readers()[i], output.streaming->knows[i]);
  stream.flush();
  if (stream.is_over()) give_up(output);
}

void RunOutputs::let_go_of_streams() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (output.streaming != nullptr) output.streaming->stream.let_go();
  }
}

// What nobody can read is not encoded any more.
void RunOutputs::give_up(Output& output) noexcept {
  output.is_off = true;
  count(Counter::outputs_switched_off);
  Message line;
  line.text(output.row->name).text(": its stream ends here: ").text(output.streaming->stream.why());
  if (say_ != nullptr) say_(line.view());
}

void RunOutputs::serve_reader(Output& output, StreamReader& reader, Defined::Mark& knows) noexcept {
  Bytes& bytes = output.bytes;  // empty
  ReaderMark mark{};
  if (reader.state() == State::kNew) {
    (void)output.sink->begin_again(bytes);
    defined_->define_again({}, *output.sink, bytes);
    reader.begin(bytes.view());
  } else if (reader.state() == State::kReading && reader.is_too_slow()) {
    (void)output.sink->leave_out(mark, bytes);
    knows = defined_->so_far();
    reader.fall_behind(bytes.view(), mark);
  } else if (reader.state() == State::kBehind && reader.has_all() && reader.lost() != 0) {
    count(Counter::stream_bytes_lost, reader.lost());
    (void)output.sink->take_in(reader.mark(), reader.lost(), bytes);
    defined_->define_again(knows, *output.sink, bytes);
    reader.catch_up(bytes.view());
  }
  bytes.clear();
}

void RunOutputs::serve_streams() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (!output.is_off && output.streaming != nullptr) serve(output);
  }
}

void RunOutputs::end_streams() noexcept {
  for (Output& output : std::span(outputs_, count_)) {
    if (output.streaming != nullptr) output.streaming->stream.end();
  }
}

}  // namespace jitquill::drain
