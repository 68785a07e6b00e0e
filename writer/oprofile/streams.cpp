#include "writer/oprofile/streams.hpp"

namespace jitquill::oprofile {
namespace {

// One of them is in a note, never several.
enum class NoteType : std::uint8_t { kFork = 1, kMap = 2, kExec = 4, kDropModules = 8, kExit = 16 };

Status put_all(const Words& words, std::span<const Number> numbers, Bytes& out) noexcept {
  for (const Number number : numbers) {
    if (!words.fits(number)) return Status::kTooLarge;
  }
  for (const Number number : numbers) words.put(out, number);
  return Status::kOk;
}

// | address | length | offset | path | pid | type |
Status put_note(const Words& words, NoteType type, Mapping note, Bytes& out) noexcept {
  Number path = note.path;
  if (note.path == kUnknownPath) path = words.nil();
  // An index that looks as none does not fit either.
  else if (path == words.nil())
    return Status::kTooLarge;
  const Number numbers[] = {note.address, note.length, note.offset,
                            path,         note.pid,    static_cast<std::uint8_t>(type)};
  return put_all(words, numbers, out);
}

}  // namespace

Status put_map(const Words& words, const Mapping& mapping, Bytes& out) noexcept {
  return put_note(words, NoteType::kMap, mapping, out);
}

Status put_exec(const Words& words, const Mapping& mapping, Bytes& out) noexcept {
  return put_note(words, NoteType::kExec, mapping, out);
}

Status put_fork(const Words& words, std::uint64_t parent_pid, std::uint64_t child_pid, Bytes& out) noexcept {
  return put_note(words, NoteType::kFork, {.address = child_pid, .path = 0, .pid = parent_pid}, out);
}

Status put_drop_modules(const Words& words, Bytes& out) noexcept {
  return put_note(words, NoteType::kDropModules, {.path = 0}, out);
}

Status put_exit(const Words& words, std::uint64_t pid, Bytes& out) noexcept {
  return put_note(words, NoteType::kExit, {.path = 0, .pid = pid}, out);
}

// | cpu | samples | state | (address, count, counter, pid) of each sample |
Status put_buffer(const Words& words, std::uint64_t cpu, ProfilerState state, std::span<const Sample> samples,
                  Bytes& out) noexcept {
  const std::size_t start = out.size();
  const Number head[] = {cpu, samples.size(), static_cast<std::uint8_t>(state)};
  Status status = put_all(words, head, out);
  for (const Sample& sample : samples) {
    if (status != Status::kOk) break;
    const Number numbers[] = {sample.address, sample.count, sample.counter, sample.pid};
    status = sample.count == 0 ? Status::kBadArgument : put_all(words, numbers, out);
  }
  if (status != Status::kOk) out.cut(start);
  return status;
}

}  // namespace jitquill::oprofile
