// The sink of the format oprofile (docs/oprofile.md).
#include <algorithm>
#include <cerrno>
#include <new>

#include "writer/bytes/group_file.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/oprofile/header.hpp"
#include "writer/oprofile/images.hpp"
#include "writer/oprofile/pending_counts.hpp"
#include "writer/oprofile/streams.hpp"
#include "writer/sink/process_file.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill {

using namespace oprofile;

namespace {

constexpr const char* kNotesName = "oprofile/notes.opnd";
constexpr const char* kPathsName = "oprofile/paths.ophd";
constexpr const char* kAddressesName = "oprofile/addresses#0.opdb";
constexpr const char* kFunctionsName = "oprofile/functions#0.opdb";
constexpr std::uint32_t kPaths = 65'537;                   // a prime; each takes 16 bytes, used or not
constexpr std::size_t kNames = 2 * HashFile::kPoolOf2002;  // bytes, at first
constexpr unsigned kOffsetBits = 32;                       // of a key of functions; above them the path
constexpr std::uint64_t kMostOffset = (std::uint64_t{1} << kOffsetBits) - 1;
constexpr std::size_t kMostPending = std::size_t{1} << 16;  // where there is no journal any more

class OprofileSink final : public RunSink {
 public:
  ~OprofileSink() override { (void)close_bases(); }
  bool wants_code() const noexcept override { return true; }
  bool wants_modules() const noexcept override { return true; }
  bool wants_samples() const noexcept override { return true; }
  Status begin(const Origin& origin, Bytes& out) noexcept override;
  Status open_files(Folder& folder, bool are_there) noexcept override;
  void forget_files() noexcept override;
  Status define(const FunctionInfo& function, Bytes& out) noexcept override;
  Status module(const ModuleNews& news, Bytes& out) noexcept override;
  Status code(const CodeNews& news, Bytes& out) noexcept override;
  Status batch(const Batch&, Bytes&) noexcept override { return Status::kOk; }
  Status samples(const SampleBatch& batch, Bytes& out) noexcept override;
  void written(bool is_well) noexcept override;
  Status end(std::uint64_t when_ns, Bytes& out) noexcept override;
  RunLosses losses() const noexcept override { return losses_; }
  void put_changes(Bytes& state) noexcept override { put(false, state); }
  void put_all(Bytes& state) noexcept override { put(true, state); }
  bool apply(std::span<const std::uint8_t> state) noexcept override;

 private:
  Status make_files(Folder& folder) noexcept;
  Status open_again(Folder& folder) noexcept;
  Status begin_notes() noexcept;
  void look_after_files() noexcept;
  template <class Put>
  Status note(Put put) noexcept;
  Mapping mapping_of(const Images::Code& code) const noexcept;
  std::uint64_t key_of(const SampleView& sample) const noexcept;
  Status put_samples(const SampleBatch& batch, Bytes& out) noexcept;
  bool has_taken(const SampleBatch& batch) noexcept;
  void put(bool whole, Bytes& state) noexcept;
  Status flush(bool all) noexcept;
  Status close_bases() noexcept;

  Folder* folder_ = nullptr;
  Words words_;
  std::uint32_t pid_ = 0;
  std::uint32_t forked_by_ = 0;  // 0: it was not forked from a process with code of its own
  GroupFile notes_;
  Bytes note_;
  std::uint64_t notes_size_ = 0;  // of the process before
  HashFile paths_;
  Images images_{paths_};
  Database addresses_, functions_;
  PendingCounts by_address_{addresses_}, by_function_{functions_};
  GrowingArray<Sample> at_hand_;
  RunLosses losses_{};
  bool has_program_ = false;  // its note
  bool has_ended_ = false;
};

Status OprofileSink::begin(const Origin& origin, Bytes& out) noexcept {
  pid_ = origin.pid;
  forked_by_ = origin.is_forked ? origin.parent_pid : 0;
  put_header(Kind::kSamples, words_, out);
  return out.failed() ? Status::kNoMemory : Status::kOk;
}

Status OprofileSink::open_files(Folder& folder, bool are_there) noexcept {
  folder_ = &folder;
  return are_there ? open_again(folder) : make_files(folder);
}

Status status_of_file(int error) noexcept {
  return error == -ENOSPC || error == -EDQUOT ? Status::kNoSpace : Status::kNoOutput;
}

// make(descriptor) of a new file.
template <class Make>
Status make_base(Folder& folder, const char* name, Make make) noexcept {
  const int descriptor = folder.create(name);
  return descriptor < 0 ? status_of_file(descriptor) : make(descriptor);
}

Status OprofileSink::make_files(Folder& folder) noexcept {
  Status status = make_file(folder, kNotesName, notes_, nullptr);
  if (status == Status::kOk) status = begin_notes();
  const auto made = [&](const char* name, auto make) {
    if (status == Status::kOk) status = make_base(folder, name, make);
  };
  made(kPathsName, [&](int file) {
    return paths_.make(file, {.words = words_, .entries = kPaths, .pool_size = kNames});
  });
  made(kAddressesName, [&](int file) { return addresses_.make(file, {.words = words_}); });
  made(kFunctionsName, [&](int file) { return functions_.make(file, {.words = words_}); });
  paths_.hide_from_children();
  addresses_.hide_from_children();
  functions_.hide_from_children();
  return status == Status::kOk ? images_.begin(pid_) : status;
}

Status OprofileSink::begin_notes() noexcept {
  note_.clear();
  put_header(Kind::kNotes, words_, note_);
  if (forked_by_ != 0) (void)put_fork(words_, forked_by_, pid_, note_);
  return note_.failed() ? Status::kNoMemory : notes_.append(note_.view());
}

// A process was killed: what its journal says is put in once more, and what it wrote behind that goes.
Status OprofileSink::open_again(Folder& folder) noexcept {
  const int notes = folder.create(kNotesName);
  if (notes < 0) return status_of_file(notes);
  if (raw::truncate(notes, notes_size_) != 0) return Status::kWriteFailed;
  notes_.adopt(notes);
  Status status = Status::kOk;
  const auto opened = [&](const char* name, auto& base) {
    if (status == Status::kOk)
      status = make_base(folder, name, [&](int file) { return base.open(file).status; });
  };
  opened(kPathsName, paths_);
  opened(kAddressesName, addresses_);
  opened(kFunctionsName, functions_);
  if (status == Status::kOk) status = images_.begin(pid_);
  if (status == Status::kOk) status = by_address_.redo();
  if (status == Status::kOk) status = by_function_.redo();
  return status;
}

// Daemons close every descriptor.
void OprofileSink::look_after_files() noexcept {
  if (folder_ == nullptr || notes_.is_ours()) return;
  const auto take_back = [&](const char* name, auto& file) {
    const int descriptor = folder_->open_again(name);
    if (descriptor >= 0 && !file.take_back(descriptor)) raw::close(descriptor);
  };
  take_back(kNotesName, notes_);
  take_back(kPathsName, paths_);
  take_back(kAddressesName, addresses_);
  take_back(kFunctionsName, functions_);
}

void OprofileSink::forget_files() noexcept {
  folder_ = nullptr;
  notes_.close();
  paths_.forget();
  addresses_.forget();
  functions_.forget();
}

template <class Put>
Status OprofileSink::note(Put put) noexcept {
  note_.clear();
  const Status status = put(note_);
  if (status != Status::kOk) return status;
  return note_.failed() ? Status::kNoMemory : notes_.append(note_.view());
}

Status OprofileSink::define(const FunctionInfo& function, Bytes&) noexcept {
  look_after_files();
  const bool is_known = images_.define(function);
  losses_.names = images_.lost();
  return is_known ? Status::kOk : Status::kNoMemory;
}

// The first is the program's.
Status OprofileSink::module(const ModuleNews& news, Bytes&) noexcept {
  look_after_files();
  const std::uint32_t path = images_.module(news);
  losses_.names = images_.lost();
  const bool is_gone = news.path.empty(), is_unknown = !is_gone && path == Images::kUnknown;
  const Mapping mapping{news.address, news.size, news.offset, is_unknown ? kUnknownPath : path, pid_};
  const bool is_program = !has_program_ && !is_gone;
  has_program_ |= is_program;
  return note([&](Bytes& out) {
    return is_program ? put_exec(words_, mapping, out) : put_map(words_, mapping, out);
  });
}

Mapping OprofileSink::mapping_of(const Images::Code& code) const noexcept {
  return {code.address, code.size, code.offset, code.path == Images::kUnknown ? kUnknownPath : code.path,
          pid_};
}

Status OprofileSink::code(const CodeNews& news, Bytes&) noexcept {
  look_after_files();
  const bool is_load = news.kind == CodeNews::Kind::kLoad;
  Images::Code* const code = is_load ? images_.load(news) : images_.find(news.code_id);
  losses_.names = images_.lost();
  if (code == nullptr) return is_load ? Status::kNoMemory : Status::kOk;  // of no known code
  if (!is_load) code->address = news.address;
  Mapping mapping = mapping_of(*code);
  if (news.kind == CodeNews::Kind::kUnload) mapping.path = kNoPath;
  return note([&](Bytes& out) { return put_map(words_, mapping, out); });
}

// | path 32 | offset in the function 32 |; of the kernel the low half of the address.
std::uint64_t OprofileSink::key_of(const SampleView& sample) const noexcept {
  if (sample.is_kernel) return std::uint64_t{images_.kernel()} << kOffsetBits | (sample.ip & kMostOffset);
  if (sample.frames.empty()) return 0;
  const SampleFrame& frame = sample.frames[0];
  return std::uint64_t{images_.of(frame.function)} << kOffsetBits | std::min(frame.offset, kMostOffset);
}

Status OprofileSink::put_samples(const SampleBatch& batch, Bytes& out) noexcept {
  at_hand_.clear();
  for (const SampleView& sample : batch.samples) {
    if (!at_hand_.push({.address = sample.ip, .count = 1, .counter = 0, .pid = sample.pid}))
      return Status::kNoMemory;
  }
  std::ranges::sort(at_hand_.all(), [](const Sample& a, const Sample& b) {
    return a.address != b.address ? a.address < b.address : a.pid < b.pid;
  });
  std::size_t kept = 0;
  for (const Sample& sample : at_hand_.all()) {
    const bool is_again =
        kept != 0 && at_hand_[kept - 1].address == sample.address && at_hand_[kept - 1].pid == sample.pid;
    if (is_again)
      ++at_hand_[kept - 1].count;
    else
      at_hand_[kept++] = sample;
  }
  at_hand_.cut(kept);
  return put_buffer(words_, batch.cpu, ProfilerState::kRunning, at_hand_.all(), out);
}

Status OprofileSink::samples(const SampleBatch& batch, Bytes& out) noexcept {
  look_after_files();
  Status status = flush(by_address_.size() > kMostPending);
  const std::size_t addresses = by_address_.size(), functions = by_function_.size();
  if (status == Status::kOk && !batch.samples.empty()) status = put_samples(batch, out);
  if (status == Status::kOk && !has_taken(batch)) status = Status::kNoMemory;
  if (status == Status::kOk && !out.failed()) return status;
  by_address_.cut(addresses);
  by_function_.cut(functions);
  losses_.samples += batch.samples.size();
  return status;
}

bool OprofileSink::has_taken(const SampleBatch& batch) noexcept {
  if (batch.samples.empty()) return true;
  bool has_memory = true;
  for (const Sample& sample : at_hand_.all())
    has_memory = has_memory && by_address_.add(sample.address, sample.count);
  for (const SampleView& sample : batch.samples)
    has_memory = has_memory && by_function_.add(key_of(sample), 1);
  return has_memory;
}

void OprofileSink::written(bool is_well) noexcept {
  if (is_well) {
    by_address_.keep_new();
    by_function_.keep_new();
    return;
  }
  losses_.samples += by_address_.drop_new();
  (void)by_function_.drop_new();
}

Status OprofileSink::flush(bool all) noexcept {
  const Status by_address = by_address_.flush(all), by_function = by_function_.flush(all);
  return by_address != Status::kOk ? by_address : by_function;
}

Status OprofileSink::end(std::uint64_t, Bytes& out) noexcept {
  has_ended_ = true;
  const Status status = put_buffer(words_, 0, ProfilerState::kStopping, {}, out);
  const Status noted = note([&](Bytes& notes) { return put_exit(words_, pid_, notes); });
  return status != Status::kOk ? status : noted;
}

// The stream is in its file, or written() has told that it is not.
void OprofileSink::put(bool whole, Bytes& state) noexcept {
  state.uleb128(pid_).uleb128(notes_.size()).u8(has_program_ ? 1 : 0);
  whole ? images_.put_all(state) : images_.put_new(state);
  by_address_.put(state);
  by_function_.put(state);
  if (has_ended_) (void)close_bases();
}

bool OprofileSink::apply(std::span<const std::uint8_t> state) noexcept {
  ByteSource source(state);
  pid_ = static_cast<std::uint32_t>(source.uleb128(0xFFFFFFFF));
  notes_size_ = source.uleb128();
  has_program_ = source.u8() != 0;
  return images_.apply(source) && by_address_.apply(source) && by_function_.apply(source) &&
         source.is_at_end();
}

Status OprofileSink::close_bases() noexcept {
  if (!addresses_.is_open() || !functions_.is_open()) return Status::kOk;
  const Status flushed = flush(true);
  losses_.counts += by_address_.size() + by_function_.size();
  (void)paths_.close();
  (void)addresses_.close();
  (void)functions_.close();
  return flushed;
}

}  // namespace

RunSink* make_oprofile_sink() noexcept {
  return new (std::nothrow) OprofileSink;
}

}  // namespace jitquill
