#include "agent/base/log.hpp"

#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr int kStandardError = 2;

void write_line(int descriptor, std::uint32_t pid, std::string_view words) noexcept {
  Message line;
  line.text("jitquill[").number(pid).text("]: ").text(words).end();
  (void)raw::write(descriptor, line.view().data(), line.view().size());
}

// Statuses are small numbers on both sides of 0: kOk is bit 32.
std::uint64_t bit_of(Status status) noexcept {
  return std::uint64_t{1} << ((static_cast<std::int32_t>(status) + 32) & 63);
}

}  // namespace

void say_on_stderr(std::uint32_t pid, std::string_view words) noexcept {
  write_line(kStandardError, pid, words);
}

void Log::open(Folder& folder, const char* name, bool verbose, std::uint32_t pid) noexcept {
  close();
  folder_ = &folder;
  name_ = name;
  verbose_ = verbose;
  pid_ = pid;
  file_failed_ = name[0] == '\0';
  said_ = 0;
}

void Log::say(std::string_view words) noexcept {
  if (verbose_) write_line(kStandardError, pid_, words);
  if (folder_ == nullptr || file_failed_) return;
  if (descriptor_ < 0) descriptor_ = folder_->create(name_);
  file_failed_ = descriptor_ < 0;
  if (!file_failed_) write_line(descriptor_, pid_, words);
}

void Log::say_once(Status status, std::string_view what) noexcept {
  if ((said_ & bit_of(status)) != 0) return;
  said_ |= bit_of(status);
  Message line;
  line.text(what).text(": ").text(text(status)).text(" (said once; later cases are counted in stats)");
  say(line.view());
}

void Log::close() noexcept {
  if (descriptor_ >= 0) raw::close(descriptor_);
  descriptor_ = -1;
  folder_ = nullptr;
}

}  // namespace jitquill
