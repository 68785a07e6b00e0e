// What libdw, a reader that is not ours, makes of the unwinding tables of a function.
//
// The tables are put into a small ELF image as perf inject builds it (docs/jitdump.md): .text at 0x80,
// .eh_frame at the next multiple of 8, .eh_frame_hdr behind it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "writer/unwind/blob.hpp"

namespace jitquill::tests {

constexpr std::size_t kFirstColumns = 17;  // the general registers and the return address

// What a register file and a memory hold at one moment.
struct Snapshot {
  std::array<std::uint64_t, kFirstColumns> registers{};
  std::function<std::uint64_t(std::uint64_t)> load;
};

// How the CFA is found: register + offset, or with `word` *(register + word) + offset.
struct CfaRule {
  int base = 0;  // DWARF number
  std::int64_t offset = 0;
  std::optional<std::int64_t> word;
  bool operator==(const CfaRule&) const = default;
};

class CfiReader {
 public:
  CfiReader(std::span<const std::uint8_t> blob, unwind::BlobSizes sizes, std::uint64_t code_size);
  // The tables of a program file: offsets are the addresses in it.
  explicit CfiReader(const std::string& path);
  ~CfiReader();

  struct Caller {
    std::uint64_t cfa = 0;
    std::array<std::uint64_t, kFirstColumns> registers{};
  };
  // What the caller's registers are by the tables; nothing if there is no row for the offset.
  std::optional<Caller> unwind(std::uint64_t offset, const Snapshot& now) const;
  // Nothing also for rules of another form.
  std::optional<CfaRule> cfa_rule(std::uint64_t offset) const;
  // All rules of the row as text, for comparison; empty if there is no row.
  std::string rules(std::uint64_t offset) const;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
};

}  // namespace jitquill::tests
