// What is kept of a live function: its parts of an object, encoded once and ready to be put into any.
//
// Context   one thread at a time. About 300 bytes a function.
// Promises  keep() copies: nothing points into the load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/gdbobj/files.hpp"
#include "writer/gdbobj/line_sequence.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::gdbobj {

struct Object;

class Function {
 public:
  std::uint64_t address() const noexcept { return address_; }
  std::uint64_t size() const noexcept { return size_; }
  std::uint64_t end() const noexcept { return address_ + size_; }
  std::string_view name() const noexcept { return {text(), name_size_}; }
  // A CIE and an FDE, or nothing. The distance between them is part of the FDE, so they stay together.
  std::span<const std::uint8_t> cfi() const noexcept { return {byte(name_size_), cfi_size_}; }
  std::uint32_t fde_at() const noexcept { return fde_at_; }  // in cfi()
  // A sequence without its files' numbers, or nothing.
  std::span<const std::uint8_t> lines() const noexcept { return {byte(name_size_ + cfi_size_), lines_size_}; }
  std::span<const FileChange> file_changes() const noexcept { return {changes(), change_count_}; }

  void move_to(std::uint64_t address) noexcept;

  static void forget(Function* function) noexcept { ::operator delete(function); }

  // Its place in the address tree.
  Function* left = nullptr;
  Function* right = nullptr;
  // The object that it is published in, and which of its members it is.
  Object* object = nullptr;
  std::uint32_t index = 0;

 private:
  friend class FunctionKeeper;
  Function() noexcept = default;

  const FileChange* changes() const noexcept { return reinterpret_cast<const FileChange*>(this + 1); }
  const char* text() const noexcept { return reinterpret_cast<const char*>(changes() + change_count_); }
  const std::uint8_t* byte(std::size_t at) const noexcept {
    return reinterpret_cast<const std::uint8_t*>(text()) + at;
  }

  // Behind it: | changes | name | CFI | lines |
  std::uint64_t address_ = 0;
  std::uint64_t size_ = 0;
  std::uint32_t change_count_ = 0;
  std::uint32_t name_size_ = 0;
  std::uint32_t cfi_size_ = 0;
  std::uint32_t fde_at_ = 0;
  std::uint32_t lines_size_ = 0;
};

// Encodes loads; its buffers serve one after the other.
class FunctionKeeper {
 public:
  // Null: no memory. `status` tells what was left out.
  Function* keep(const CodeLoad& load, Files& files, Status& status, Written& written) noexcept;

 private:
  Status encode_unwinding(const CodeLoad& load) noexcept;
  Function* pack(const CodeLoad& load) const noexcept;

  Bytes name_;
  Bytes cfi_;
  Bytes lines_;
  Bytes changes_;
  std::uint32_t fde_at_ = 0;
};

}  // namespace jitquill::gdbobj
