#include "agent/drain/run_file.hpp"

#include <algorithm>

#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/sink/process_file.hpp"

namespace jitquill::drain {

namespace {

// In a folder, or in one below it: what a journal says may be damaged.
bool is_below(std::string_view name) noexcept {
  return !name.empty() && name[0] != '/' && name.find("..") == name.npos;
}

}  // namespace

FileName file_name(std::string_view command, const char* file) noexcept {
  Message all;
  FileName name;
  const bool is_of_command = *file == '.' && !command.empty();
  if (!is_of_command || !name.set(all.text(command).text(file).view())) (void)name.set(file);
  return name;
}

FileName RunFile::name_of(std::uint32_t number) const noexcept {
  if (number == 1) return first_;
  const std::string_view first_name = first_.view();
  const std::size_t ending = std::min(first_name.rfind('.'), first_name.size());
  Message all;
  FileName name;
  all.text(first(first_name, ending)).text(".").number(number).text(without_first(first_name, ending));
  (void)name.set(all.view());
  return name;
}

Status RunFile::create(Folder& folder, const FileName& name) noexcept {
  first_ = name;
  path_ = folder.path();
  (void)folders::inspect(path_, folder_);
  // No budget: that is the leaf lock's, of files that are written there.
  return make_file(folder, name.c_str(), file_, nullptr);
}

bool RunFile::resume(Folder& folder) noexcept {
  before_us_ = &folder;
  path_ = folder.path();
  (void)folders::inspect(path_, folder_);
  const int descriptor = folder.create(name_of(number_).c_str());
  if (descriptor < 0) return false;
  struct stat status {};
  const bool has_all = raw::status_of(descriptor, status) == 0 &&
                       static_cast<std::uint64_t>(status.st_size) >= committed_ &&
                       raw::truncate(descriptor, committed_) == 0;
  if (!has_all) {
    raw::close(descriptor);
    return false;
  }
  file_.adopt(descriptor);
  size_ = committed_;
  const auto is_there = [&](std::uint32_t number) {
    const int found = folder.create(name_of(number).c_str());
    if (found >= 0) raw::close(found);
    return found >= 0;
  };
  for (std::uint32_t number = number_ + 1; is_limited() && is_there(number); ++number) remove(number);
  oldest_ = number_;
  while (limits_.kept != 0 && oldest_ > 1 && is_there(oldest_ - 1)) --oldest_;
  return true;
}

// Daemons close every descriptor. What stands under our path now must be the file that we had.
bool RunFile::open_again() noexcept {
  if (*path_ == '\0' || file_.is_ours()) return false;
  const int descriptor = folders::open_file(path_, name_of(number_).c_str());
  if (descriptor < 0) return false;
  if (!file_.take_back(descriptor)) {
    raw::close(descriptor);
    return false;
  }
  count(Counter::outputs_opened_again);
  return true;
}

Status RunFile::append(std::span<const std::uint8_t> bytes) noexcept {
  Status status = file_.append(bytes);
  if (status != Status::kOk && open_again()) status = file_.append(bytes);
  size_ = file_.size();
  return status;
}

bool RunFile::is_full_with(std::size_t to_append, std::size_t more) const noexcept {
  const std::uint64_t size = size_ + to_append;
  const std::uint64_t most = std::max(limits_.bytes, start_size_ + limits_.bytes / 2);
  return is_limited() && size > start_size_ && size + more > most;
}

bool RunFile::make_next() noexcept {
  const FileName name = name_of(number_ + 1);
  const int descriptor = before_us_ != nullptr ? before_us_->create_next(name.c_str())
                                               : folders::create_file(path_, folder_, name.c_str());
  if (descriptor >= 0) next_.adopt(descriptor);
  if (descriptor < 0) limits_.bytes = 0;
  return descriptor >= 0;
}

void RunFile::go_on() noexcept {
  file_.close();
  file_.take(next_);
  before_ += size_;
  size_ = committed_ = start_size_ = 0;
  ++number_;
}

void RunFile::remove(std::uint32_t number) noexcept {
  const FileName name = name_of(number);
  before_us_ != nullptr ? before_us_->remove(name.c_str())
                        : folders::remove_file(path_, folder_, name.c_str());
}

void RunFile::remove_old() noexcept {
  for (; limits_.kept != 0 && number_ - oldest_ >= limits_.kept; ++oldest_) remove(oldest_);
}

void RunFile::put(Bytes& state) const noexcept {
  state.uleb128(first_.view().size()).raw(first_.view());
  state.uleb128(limits_.bytes).uleb128(limits_.kept).uleb128(number_);
  state.uleb128(start_size_).uleb128(before_).uleb128(committed_);
}

bool RunFile::apply(ByteSource& state) noexcept {
  const std::string_view name = state.text();
  limits_.bytes = state.uleb128();
  limits_.kept = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  number_ = static_cast<std::uint32_t>(state.uleb128(0xFFFFFFFF));
  start_size_ = state.uleb128();
  before_ = state.uleb128();
  committed_ = state.uleb128();
  return !state.failed() && is_below(name) && number_ != 0 && first_.set(name);
}

}  // namespace jitquill::drain
