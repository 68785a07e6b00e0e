#include "writer/jitdump/sink.hpp"

#include <new>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/jitdump/group.hpp"
#include "writer/jitdump/marker.hpp"
#include "writer/jitdump/records.hpp"
#include "writer/jitdump/seen_code.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill {
namespace {

class JitdumpSink final : public Sink {
 public:
  Status begin(const Origin& origin, const Outlets& outlets) noexcept override;
  Status load(const CodeLoad& load, Written& written) noexcept override;
  void hold() noexcept override;
  Status release() noexcept override;
  Status move(const CodeMove& move, Written& written) noexcept override;
  Status unload(const CodeUnload&) noexcept override { return Status::kOk; }
  Status end(std::uint64_t when_ns) noexcept override;
  Status hand_over(std::uint64_t when_ns) noexcept override;
  void abandon() noexcept override;

 private:
  Status write_close(std::uint64_t when_ns) noexcept;
  Status write_header(const Origin& origin) noexcept;
  Status append(Status put, Written& written) noexcept;
  std::uint64_t salt_of(const CodeLoad& load) const noexcept;

  Bytes group_;
  bool is_held_ = false;
  GroupFile file_;
  jitdump::Marker marker_;
  jitdump::SeenCode seen_;
  std::uint64_t start_ns_ = 0;
};

Status JitdumpSink::begin(const Origin& origin, const Outlets& outlets) noexcept {
  abandon();
  const ProcessFileName name("jit-", origin.pid, ".dump");  // perf knows a dump by exactly this name
  if (const Status made = make_file(outlets.folder, name.text(), file_); made != Status::kOk) return made;
  start_ns_ = origin.start_ns;
  if (const Status status = write_header(origin); status != Status::kOk) {
    abandon();
    outlets.folder.remove(name.text());  // perf gives up a whole recording over one headerless file
    return status;
  }
  return marker_.put(file_.descriptor()) ? Status::kOk : Status::kNoMarker;
}

Status JitdumpSink::write_header(const Origin& origin) noexcept {
  group_.clear();
  jitdump::put_header(group_, origin);
  return group_.failed() ? Status::kNoMemory : file_.append(group_.view());
}

// As if its bytes were new in this file, since mostly they are; else once more with salt.
Status JitdumpSink::load(const CodeLoad& load, Written& written) noexcept {
  if (!is_held_) group_.clear();
  const std::size_t start = group_.size();
  const jitdump::SeenCode::Trace trace = seen_.trace_of(load.bytes);
  Status put = jitdump::put_group(group_, load, 0, written);
  if (is_done(put) && jitdump::SeenCode::meets(trace)) {
    group_.cut(start);
    put = jitdump::put_group(group_, load, salt_of(load), written);
  }
  if (!is_held_) return append(put, written);
  written.bytes += group_.size() - start;
  return put;
}

void JitdumpSink::hold() noexcept {
  group_.clear();
  is_held_ = true;
}

Status JitdumpSink::release() noexcept {
  is_held_ = false;
  if (group_.failed()) return Status::kNoMemory;
  return group_.size() == 0 ? Status::kOk : file_.append(group_.view());
}

// Differs between functions, files and runs.
std::uint64_t JitdumpSink::salt_of(const CodeLoad& load) const noexcept {
  return (start_ns_ ^ std::uint64_t{load.pid} << 40) + load.index + 1;
}

Status JitdumpSink::move(const CodeMove& move, Written& written) noexcept {
  group_.clear();
  return append(jitdump::put_move_group(group_, move, written), written);
}

Status JitdumpSink::append(Status put, Written& written) noexcept {
  if (!is_done(put)) return put;
  if (const Status status = file_.append(group_.view()); status != Status::kOk) return status;
  written.bytes += group_.size();
  return put;
}

Status JitdumpSink::write_close(std::uint64_t when_ns) noexcept {
  group_.clear();
  jitdump::put_close(group_, when_ns);
  return group_.failed() ? Status::kNoMemory : file_.append(group_.view());
}

Status JitdumpSink::end(std::uint64_t when_ns) noexcept {
  if (!file_.is_open()) return Status::kOk;
  const Status status = write_close(when_ns);
  marker_.keep();  // the code may go on running, and a profiler may attach later
  file_.close();
  return status;
}

// Without the marker: a profiler that attaches later is led to the next dump, and one that did before has
// heard of this. Else a process that fills many would never let go of their pages.
Status JitdumpSink::hand_over(std::uint64_t when_ns) noexcept {
  if (!file_.is_open()) return Status::kOk;
  const Status status = write_close(when_ns);
  abandon();
  return status;
}

void JitdumpSink::abandon() noexcept {
  is_held_ = false;
  marker_.drop();
  file_.close();
}

}  // namespace

Sink* make_jitdump_sink() noexcept {
  return new (std::nothrow) JitdumpSink;
}

}  // namespace jitquill
