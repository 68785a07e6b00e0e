#include "writer/jitdump/group.hpp"

#include <algorithm>

#include "writer/jitdump/records.hpp"
#include "writer/unwind/blob.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint32_t kSaltSize = 8;
constexpr std::uint8_t kTrap = 0xCC;  // int3: what compilers pad with

bool ends_in_padding(std::span<const std::uint8_t> bytes) noexcept {
  return bytes.size() > kSaltSize &&
         std::all_of(bytes.end() - kSaltSize, bytes.end(), [](std::uint8_t b) { return b == kTrap; });
}

// How much room the function needs as it will be put, tables included.
std::uint64_t needed_room(const CodeLoad& load, std::uint64_t image_size) noexcept {
  unwind::BlobSizes sizes;
  const std::uint64_t salt = image_size - load.bytes.size();
  if (!load.unwinding.has_rows() ||
      unwind::measure_blob(load.unwinding, image_size, false, sizes) != Status::kOk)
    return salt;
  return salt + unwind::tail_size(image_size, sizes);
}

// Salt goes where nothing is executed: into the room behind the code, else over padding at its end, else
// nowhere.
Image image_of(const CodeLoad& load, std::uint64_t salt, Written& written) noexcept {
  Image image{.bytes = load.bytes, .salt = salt, .salt_size = 0, .is_over = false};
  if (salt == 0) return image;
  const bool fits_behind = load.room >= needed_room(load, load.bytes.size() + kSaltSize);
  image.is_over = !fits_behind;
  if (fits_behind || ends_in_padding(load.bytes)) image.salt_size = kSaltSize;
  written.duplicate_unsalted = image.salt_size == 0;
  return image;
}

Place place_of(const CodeLoad& load, const Image& image) noexcept {
  const std::uint64_t salt_behind = image.size() - load.bytes.size();
  return {.code_size = image.size(),
          .when_ns = load.when_ns,
          .twin_distance = 0,
          .room = load.room - std::min<std::uint64_t>(load.room, salt_behind)};
}

// What a group came to: a refusal of the code itself, else of its unwinding, else of its lines.
Status result(Status code, Status unwinding, Status lines, Written& written) noexcept {
  written.lines_left_out = lines != Status::kOk;
  written.unwinding_left_out = unwinding != Status::kOk;
  if (code != Status::kOk) return code;
  return unwinding != Status::kOk ? unwinding : lines;
}

Status put_lines(Bytes& out, const CodeLoad& load, const Image& image) noexcept {
  const Status inlining = put_inline_info(out, load);
  const Status lines = put_debug_info(out, load, image);
  return lines != Status::kOk ? lines : inlining;
}

Status put_plain_group(Bytes& out, const CodeLoad& load, const Image& image, Written& written) noexcept {
  const Status lines = put_lines(out, load, image);
  Status unwinding = Status::kOk;
  if (load.unwinding.kind != Unwinding::Kind::kUnknown) {
    unwinding = put_unwinding_info(out, load.unwinding, place_of(load, image), written.tail_size);
  }
  written.unwinding_without_room =
      load.unwinding.has_rows() && unwinding == Status::kOk && written.tail_size == 0;
  const Status code = put_load(out, load, load.address, image, written.name_changed);
  return result(code, unwinding, lines, written);
}

bool take_twin(const CodeLoad& load, const Image& image, Written& written) noexcept {
  unwind::BlobSizes sizes;
  if (load.twins == nullptr) return false;
  if (unwind::measure_blob(load.unwinding, image.size(), true, sizes) != Status::kOk) return false;
  const std::uint64_t size = image.size() + unwind::tail_size(image.size(), sizes);
  if (written.twin_address != 0 && written.twin_size == size) return true;  // it is put once more
  written.twin_size = size;
  written.twin_address = load.twins->take(load.address, written.twin_size);
  return written.twin_address != 0;
}

// UNWINDING LOAD at the twin, then the group at the code, with one index and the same tables: perf makes one
// file of both, mapped twice. Its libunwind takes the lower place for the tables' base, where their bytes are
// mapped; samples hit the upper one. No lines at the twin, where nothing runs.
Status put_twin_group(Bytes& out, const CodeLoad& load, const Image& image, Written& written) noexcept {
  Place place = place_of(load, image);
  place.twin_distance = load.address - written.twin_address;
  place.room = unwind::kAnyRoom;
  std::uint32_t tail = 0;
  Status unwinding = put_unwinding_info(out, load.unwinding, place, tail);
  Status code = put_load(out, load, written.twin_address, image, written.name_changed);
  const Status lines = put_lines(out, load, image);
  place.room = 0;
  if (unwinding == Status::kOk) unwinding = put_unwinding_info(out, load.unwinding, place, tail);
  if (code == Status::kOk) code = put_load(out, load, load.address, image, written.name_changed);
  written.unwinding_without_room = false;
  return result(code, unwinding, lines, written);
}

// Nothing of a group stays that is not whole.
Status settle(Bytes& out, std::size_t start, Status status) noexcept {
  if (out.failed()) status = Status::kNoMemory;
  if (!is_done(status)) out.cut(start);
  return status;
}

}  // namespace

Status put_group(Bytes& out, const CodeLoad& load, std::uint64_t salt, Written& written) noexcept {
  if (load.bytes.empty()) return Status::kEmptyCode;
  if (load.bytes.size() > kMaxCodeSize) return Status::kTooLarge;
  const std::size_t start = out.size();
  const Image image = image_of(load, salt, written);
  Status status = put_plain_group(out, load, image, written);
  if (written.unwinding_without_room && take_twin(load, image, written)) {
    out.cut(start);
    status = put_twin_group(out, load, image, written);
  }
  return settle(out, start, status);
}

Status put_move_group(Bytes& out, const CodeMove& move, Written& written) noexcept {
  const std::size_t start = out.size();
  if (move.unwinding.has_rows()) {
    const Place place{.code_size = move.size, .when_ns = move.when_ns, .twin_distance = 0, .room = move.room};
    const Status unwinding = put_unwinding_info(out, move.unwinding, place, written.tail_size);
    written.unwinding_left_out = unwinding != Status::kOk;
    written.unwinding_without_room =
        unwinding == Status::kOk && (written.tail_size == 0 || move.to > move.from);
  }
  put_move(out, move);
  return settle(out, start, Status::kOk);
}

}  // namespace jitquill::jitdump
