// Builds an .eh_frame section: one entry for each function, from whatever is known of its frame.
//
// Context   any one thread; puts into the caller's buffer, where nothing else may be put meanwhile.
// Promises  the section's length is a multiple of 8 after every add(). A refused function leaves nothing.
// Does not  put a terminator: who needs one puts four zero bytes.
#pragma once

#include <cstdint>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"
#include "writer/model/unwinding.hpp"

namespace jitquill::unwind {

// How an entry says where its function begins.
enum class PointerForm : std::uint8_t {
  kRelative4,  // signed, from the field itself: for sections at a fixed distance from the code
  kAbsolute8,  // for sections that are read where they were built
};

class EhFrameSection {
 public:
  // The section begins at the end of `out`.
  EhFrameSection(Bytes& out, PointerForm form) noexcept : out_(out), form_(form), start_(out.size()) {}
  EhFrameSection(const EhFrameSection&) = delete;
  EhFrameSection& operator=(const EhFrameSection&) = delete;

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  // `code` is where the function begins: counted from the start of the section (kRelative4), or its address.
  // `known_cie`: last_cie() of a function with the same unwinding.
  // kBadFrame (also: nothing is known of the frame), kTooLarge (a distance beyond 2 GiB), kNoMemory.
  Status add(const Unwinding& unwinding, std::int64_t code, std::uint64_t code_size,
             std::uint64_t known_cie = kNone) noexcept;

  std::uint64_t size() const noexcept { return out_.size() - start_; }
  // The entry of the last function, from the start of the section.
  std::uint64_t last_fde() const noexcept { return last_fde_; }
  std::uint64_t last_cie() const noexcept { return last_cie_; }

 private:
  std::uint64_t cie_for(const Unwinding& unwinding, std::uint64_t room) noexcept;
  Status put_fde(const Unwinding& unwinding, std::uint64_t cie_at, std::int64_t code, std::uint64_t code_size,
                 std::uint64_t room) noexcept;

  Bytes& out_;
  PointerForm form_;
  std::size_t start_;
  std::uint64_t common_cie_ = kNone;  // of all functions that are told by frame events
  std::uint64_t last_fde_ = 0;
  std::uint64_t last_cie_ = 0;
};

// Bytes that add() would put as the first of a section, and as the next one of the same kind, without
// putting: by counting, no memory. Needs no lock. kBadFrame and kTooLarge as add().
struct EntrySizes {
  std::uint64_t cie = 0;
  std::uint64_t fde = 0;
};
Status measure_entry(const Unwinding& unwinding, PointerForm form, std::uint64_t code_size,
                     EntrySizes& sizes) noexcept;

}  // namespace jitquill::unwind
