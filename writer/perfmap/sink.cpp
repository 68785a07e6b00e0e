#include "writer/perfmap/sink.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <tuple>
#include <utility>

#include "writer/bytes/bytes.hpp"
#include "writer/bytes/group_file.hpp"
#include "writer/perfmap/line.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill {
namespace {

class PerfmapSink final : public Sink {
 public:
  Status begin(const Origin& origin, const Outlets& outlets) noexcept override;
  Status load(const CodeLoad& load, Written& written) noexcept override;
  Status move(const CodeMove& move, Written& written) noexcept override;
  // The line stays: perf reads the file when the process is long gone, for samples from all of its life.
  Status unload(const CodeUnload&) noexcept override { return Status::kOk; }
  Status end(std::uint64_t when_ns) noexcept override;
  void leave() noexcept override;
  void abandon() noexcept override;

 private:
  static constexpr std::size_t kMost = std::tuple_size_v<MapFolders>;

  // perf looks for exactly this name.
  ProcessFileName file_name() const noexcept { return ProcessFileName("perf-", pid_, ".map"); }
  void come_back() noexcept;
  Status put(std::uint64_t start, std::uint64_t size, std::string_view name, Written& written) noexcept;
  Status append(Written& written) noexcept;
  std::size_t open_files() const noexcept;

  Bytes line_;
  std::array<GroupFile, kMost> files_;
  std::uint32_t pid_ = 0;
  MapFolders folders_{};
  MapFolders left_{};  // where a file that is not written yet was taken away again
};

Status PerfmapSink::begin(const Origin& origin, const Outlets& outlets) noexcept {
  abandon();
  pid_ = origin.pid;
  folders_ = outlets.map_folders;
  const ProcessFileName name = file_name();
  Status failed = Status::kOk;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    Folder* const folder = outlets.map_folders[i];
    const Status made = folder == nullptr ? Status::kOk : make_file(*folder, name.text(), files_[i]);
    if (made != Status::kOk) failed = made;
  }
  if (open_files() != 0) return failed == Status::kOk ? failed : Status::kOneMapOnly;
  return failed == Status::kOk ? Status::kNoOutput : failed;
}

std::size_t PerfmapSink::open_files() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(files_, &GroupFile::is_open));
}

Status PerfmapSink::load(const CodeLoad& load, Written& written) noexcept {
  return put(load.address, load.bytes.size(), load.name, written);
}

Status PerfmapSink::move(const CodeMove& move, Written& written) noexcept {
  return put(move.to, move.size, move.name, written);
}

Status PerfmapSink::put(std::uint64_t start, std::uint64_t size, std::string_view name,
                        Written& written) noexcept {
  if (size == 0) return Status::kEmptyCode;
  come_back();
  line_.clear();
  if (perfmap::put_line(line_, start, size, name)) written.name_changed = true;
  return line_.failed() ? Status::kNoMemory : append(written);
}

// A map that misses a line is given up if another has it: it would be taken for whole.
Status PerfmapSink::append(Written& written) noexcept {
  Status failed = Status::kOk;
  std::array<GroupFile*, kMost> missing{};
  std::size_t done = 0;
  std::size_t missed = 0;
  for (GroupFile& file : files_) {
    if (!file.is_open()) continue;
    const Status status = file.append(line_.view());
    if (status == Status::kOk) {
      ++done;
    } else {
      failed = status;
      missing[missed++] = &file;
    }
  }
  written.bytes += done * line_.size();
  if (done == 0) return failed == Status::kOk ? Status::kWriteFailed : failed;
  for (std::size_t i = 0; i < missed; ++i) missing[i]->close();
  return failed;
}

Status PerfmapSink::end(std::uint64_t) noexcept {
  abandon();
  return Status::kOk;
}

// An empty one would have the name when the program that a shell becomes makes its own.
void PerfmapSink::leave() noexcept {
  const ProcessFileName name = file_name();
  for (std::size_t i = 0; i < kMost; ++i) {
    if (!files_[i].is_open() || files_[i].size() != 0 || !folders_[i]->remove_empty(name.text())) continue;
    files_[i].close();
    left_[i] = folders_[i];
  }
}

void PerfmapSink::come_back() noexcept {
  for (std::size_t i = 0; i < kMost; ++i) {
    Folder* const folder = std::exchange(left_[i], nullptr);
    if (folder != nullptr) (void)make_file(*folder, file_name().text(), files_[i]);
  }
}

void PerfmapSink::abandon() noexcept {
  left_ = {};
  for (GroupFile& file : files_) file.close();
}

}  // namespace

Sink* make_perfmap_sink() noexcept {
  return new (std::nothrow) PerfmapSink;
}

}  // namespace jitquill
