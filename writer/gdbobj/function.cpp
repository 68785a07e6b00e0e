#include "writer/gdbobj/function.hpp"

#include <cstring>
#include <new>

#include "writer/bytes/names.hpp"
#include "writer/unwind/eh_frame.hpp"

namespace jitquill::gdbobj {
namespace {

constexpr std::size_t kFdePcAt = 8;  // behind its length and the distance to its CIE

constexpr std::size_t kMostLinesSize = std::size_t{256}
                                       << 20;  // bounds the image, whose offsets have 32 bits

std::uint32_t size_of(const Bytes& bytes) noexcept {
  return static_cast<std::uint32_t>(bytes.size());
}

std::uint8_t* append(std::uint8_t* to, const Bytes& part) noexcept {
  if (part.size() != 0) std::memcpy(to, part.view().data(), part.size());
  return to + part.size();
}

}  // namespace

// The two absolute addresses in its parts, and its own.
void Function::move_to(std::uint64_t address) noexcept {
  address_ = address;
  if (cfi_size_ != 0)
    std::memcpy(const_cast<std::uint8_t*>(cfi().data()) + fde_at_ + kFdePcAt, &address, sizeof address);
  if (lines_size_ != 0)
    std::memcpy(const_cast<std::uint8_t*>(lines().data()) + kSequenceAddressAt, &address, sizeof address);
}

Status FunctionKeeper::encode_unwinding(const CodeLoad& load) noexcept {
  fde_at_ = 0;
  if (load.unwinding.kind == Unwinding::Kind::kRefused) return Status::kUnwindingLeftOut;
  if (!load.unwinding.has_rows()) return Status::kOk;
  unwind::EhFrameSection section(cfi_, unwind::PointerForm::kAbsolute8);
  const Status status =
      section.add(load.unwinding, static_cast<std::int64_t>(load.address), load.bytes.size());
  fde_at_ = static_cast<std::uint32_t>(section.last_fde());
  return status == Status::kOk ? status : Status::kUnwindingLeftOut;
}

Function* FunctionKeeper::keep(const CodeLoad& load, Files& files, Status& status,
                               Written& written) noexcept {
  for (Bytes* const part : {&name_, &cfi_, &lines_, &changes_}) part->clear();
  if (put_code_name(name_, load.name, load.address)) written.name_changed = true;
  const Status unwinding = encode_unwinding(load);
  Status lines = put_sequence(lines_, changes_, load, files);
  if (lines_.size() > kMostLinesSize) {
    lines_.clear();
    changes_.clear();
    lines = Status::kLinesLeftOut;
  }
  if (unwinding != Status::kOk) written.unwinding_left_out = true;
  if (lines == Status::kLinesLeftOut) written.lines_left_out = true;
  status = unwinding != Status::kOk ? unwinding : lines;
  const bool failed = name_.failed() || cfi_.failed() || lines_.failed() || changes_.failed();
  return failed || lines == Status::kNoMemory ? nullptr : pack(load);
}

Function* FunctionKeeper::pack(const CodeLoad& load) const noexcept {
  const std::size_t parts = changes_.size() + name_.size() + cfi_.size() + lines_.size();
  void* const block = ::operator new(sizeof(Function) + parts, std::nothrow);
  if (block == nullptr) return nullptr;
  auto* const kept = new (block) Function;
  kept->address_ = load.address;
  kept->size_ = load.bytes.size();
  kept->change_count_ = size_of(changes_) / std::uint32_t{sizeof(FileChange)};
  kept->name_size_ = size_of(name_);
  kept->cfi_size_ = size_of(cfi_);
  kept->fde_at_ = fde_at_;
  kept->lines_size_ = size_of(lines_);
  auto* to = reinterpret_cast<std::uint8_t*>(kept + 1);
  for (const Bytes* const part : {&changes_, &name_, &cfi_, &lines_}) to = append(to, *part);
  return kept;
}

}  // namespace jitquill::gdbobj
