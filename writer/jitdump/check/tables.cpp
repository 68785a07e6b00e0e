// CODE_UNWINDING_INFO: | prefix | unwinding_size | eh_frame_hdr_size | mapped_size | .eh_frame |
// .eh_frame_hdr |
//
// perf puts the pieces so, counted from the function's first byte: the code, a gap up to the next multiple of
// 8, .eh_frame, .eh_frame_hdr. All that is relative in them is judged by that.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "writer/jitdump/check/parts.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kSizeAt = 16;
constexpr std::uint64_t kHdrSizeAt = 24;
constexpr std::uint64_t kMappedAt = 32;
constexpr std::uint64_t kHdrHeadSize = 12;
constexpr std::uint64_t kHdrRowSize = 8;
constexpr std::uint8_t kHdrStart[] = {1, 0x1B, 0x03, 0x3B};
constexpr std::uint8_t kRelative4 = 0x1B;  // pcrel, sdata4

struct Cie {
  std::uint64_t place;  // in .eh_frame
  ByteReader instructions;
};

struct Fde {
  std::uint64_t place;   // in .eh_frame
  std::uint64_t offset;  // of pc_begin, in the file
  std::int64_t begin;    // in the function
  std::uint32_t range;
  std::size_t cie;
  ByteReader instructions;
};

class TableChecker {
 public:
  TableChecker(Tables& tables, const Code& code, Findings& findings)
      : tables_(tables),
        code_(code),
        findings_(findings),
        section_size_(tables.size - tables.hdr_size),
        base_((code.size + 7) & ~std::uint64_t{7}) {}

  void run();

 private:
  void add(std::uint64_t offset, Rule rule, std::string reason) {
    findings_.add(offset, rule, std::move(reason));
  }
  bool check_entry(ByteReader& section);
  void check_terminator(const ByteReader& section, std::uint64_t at);
  bool check_cie(ByteReader entry, std::uint64_t place);
  static const char* trouble_with_cie(ByteReader& entry);
  bool check_fde(ByteReader entry, std::uint64_t place, std::uint32_t distance);
  void check_ranges();
  bool check_twin();
  void check_hdr();
  void check_rows(ByteReader hdr);
  bool is_frame_pointer_stub(ByteReader hdr) const;

  Tables& tables_;
  const Code& code_;
  Findings& findings_;
  std::uint64_t section_size_;
  std::uint64_t base_;  // of .eh_frame, from the function's first byte
  std::vector<Cie> cies_;
  std::vector<Fde> fdes_;
};

void TableChecker::run() {
  ByteReader blob(tables_.blob, tables_.blob_offset);
  ByteReader section(blob.take(section_size_), tables_.blob_offset);
  while (section.left() != 0 && check_entry(section)) {
  }
  std::stable_sort(fdes_.begin(), fdes_.end(), [](const Fde& a, const Fde& b) { return a.begin < b.begin; });
  check_ranges();
  check_hdr();
  for (const Fde& fde : fdes_)
    check_frames(cies_[fde.cie].instructions, fde.instructions, fde.range, findings_);
}

// False: what is behind it cannot be found.
bool TableChecker::check_entry(ByteReader& section) {
  const std::uint64_t at = section.offset();
  const std::uint64_t place = at - tables_.blob_offset;
  const std::uint32_t length = section.u32();
  if (!section.failed() && length == 0) {
    check_terminator(section, at);
    return false;
  }
  if (section.failed() || length < 4 || length > section.left() || length % 4 != 0) {
    add(at, Rule::kEhEntry, "a length of " + words(length) + " does not fit, or is no multiple of 4");
    return false;
  }
  ByteReader entry(section.take(length), at + 4);
  const std::uint32_t id = entry.u32();
  return id == 0 ? check_cie(entry, place) : check_fde(entry, place, id);
}

void TableChecker::check_terminator(const ByteReader& section, std::uint64_t at) {
  const auto rest = section.rest();
  const bool is_zero = std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; });
  if (!is_zero || rest.size() > 4)
    add(at, Rule::kEhEntry, "it ends the section, but more than 4 bytes follow");
}

// | version | "zR" 0 | code factor | data factor | return column | size of augmentation | pointer encoding |
const char* TableChecker::trouble_with_cie(ByteReader& entry) {
  const std::uint8_t version = entry.u8();
  if (version != 1 && version != 3) return "the version must be 1 or 3";
  if (entry.text() != "zR") return "the augmentation must be zR";
  if (entry.uleb128() != 1) return "the code factor must be 1: x86-64 code is counted in bytes";
  if (entry.sleb128() != -8) return "the data factor must be -8: x86-64 saves words of 8 bytes";
  if ((version == 1 ? entry.u8() : entry.uleb128()) != 16) return "the return address is in column 16";
  if (entry.uleb128() != 1) return "the augmentation of zR is one byte";
  if (entry.u8() != kRelative4) return "pointers must be encoded as 1B";
  return entry.failed() ? "it ends too early" : nullptr;
}

bool TableChecker::check_cie(ByteReader entry, std::uint64_t place) {
  const std::uint64_t at = entry.offset();
  if (const char* trouble = trouble_with_cie(entry); trouble != nullptr) {
    add(at, Rule::kCie, trouble);
    return false;
  }
  cies_.push_back({place, ByteReader(entry.rest(), entry.offset())});
  return true;
}

// | distance to the CIE | pc_begin | pc_range | size of augmentation: 0 |
bool TableChecker::check_fde(ByteReader entry, std::uint64_t place, std::uint32_t distance) {
  const auto cie = std::ranges::lower_bound(cies_, place + 4 - distance, {}, &Cie::place);
  if (distance > place + 4 || cie == cies_.end() || cie->place != place + 4 - distance) {
    add(entry.offset() - 4, Rule::kFde, "there is no CIE " + words(distance) + " bytes in front");
    return false;
  }
  Fde fde{place, entry.offset(), 0, 0, static_cast<std::size_t>(cie - cies_.begin()), entry};
  fde.begin = entry.i32() + static_cast<std::int64_t>(base_ + place + 8);
  fde.range = entry.u32();
  const std::uint64_t augmentation_at = entry.offset();
  if (entry.uleb128() != 0 || entry.failed()) {
    add(augmentation_at, Rule::kFde, "it ends too early, or has augmentation data");
    return false;
  }
  fde.instructions = ByteReader(entry.rest(), entry.offset());
  fdes_.push_back(fde);
  return true;
}

// The second FDE is of the code as it lies behind the twin.
bool TableChecker::check_twin() {
  const auto end = static_cast<std::int64_t>(code_.size);
  if (fdes_.size() != 2 || fdes_[0].begin != 0 || fdes_[1].begin < end || fdes_[1].begin > INT32_MAX)
    return false;
  if (fdes_[0].cie != fdes_[1].cie ||
      !std::ranges::equal(fdes_[0].instructions.rest(), fdes_[1].instructions.rest()))
    add(fdes_[1].offset, Rule::kFde, "describes another frame behind the twin than at the code");
  for (const Fde& fde : fdes_) {
    if (fde.range != code_.size)
      add(fde.offset + 4, Rule::kFdeRange, words(fde.range) + " bytes, the code has " + words(code_.size));
  }
  tables_.twin_distance = static_cast<std::uint64_t>(fdes_[1].begin);
  return true;
}

// Sorted, they must cover the code without a gap.
void TableChecker::check_ranges() {
  if (fdes_.empty() || check_twin()) return;
  std::int64_t covered = 0;
  for (const Fde& fde : fdes_) {
    if (fde.begin != covered)
      add(fde.offset, Rule::kFdeBegin,
          "begins " + std::to_string(fde.begin) + " bytes into the function, must at " +
              std::to_string(covered));
    covered = fde.begin + fde.range;
  }
  if (covered != static_cast<std::int64_t>(code_.size))
    add(fdes_.back().offset + 4, Rule::kFdeRange,
        "ends at byte " + std::to_string(covered) + " of " + words(code_.size));
}

// "Use frame pointers": a header alone.
bool TableChecker::is_frame_pointer_stub(ByteReader hdr) const {
  (void)hdr.take(8);
  return section_size_ == 0 && tables_.mapped == 0 && hdr.u32() == 0;
}

// | 01 1B 03 3B | distance to .eh_frame | number of rows | rows: start, FDE |
void TableChecker::check_hdr() {
  ByteReader blob(tables_.blob, tables_.blob_offset);
  (void)blob.take(section_size_);
  ByteReader hdr(blob.rest(), blob.offset());
  if (!std::ranges::equal(hdr.take(sizeof kHdrStart), kHdrStart))
    return add(hdr.offset() - sizeof kHdrStart, Rule::kHdrEncoding, "does not begin with 01 1B 03 3B");
  const std::int64_t distance = hdr.i32();
  const std::int64_t right = -static_cast<std::int64_t>(section_size_ + 4);
  if (distance != right)
    add(hdr.offset() - 4, Rule::kHdrPointer, std::to_string(distance) + ", must be " + std::to_string(right));
  if (is_frame_pointer_stub(ByteReader(blob.rest(), blob.offset()))) return;
  const std::uint64_t at = hdr.offset();
  const std::uint32_t count = hdr.u32();
  if (count == 0 || count != fdes_.size() || hdr.left() != count * kHdrRowSize)
    return add(at, Rule::kHdrCount, words(count) + " rows for " + words(fdes_.size()) + " descriptions");
  check_rows(hdr);
}

void TableChecker::check_rows(ByteReader hdr) {
  const auto hdr_place = static_cast<std::int64_t>(base_ + section_size_);
  std::int64_t last = INT64_MIN;
  for (const Fde& fde : fdes_) {
    const std::uint64_t at = hdr.offset();
    const std::int64_t start = hdr.i32();
    const std::int64_t to_fde = hdr.i32();
    const auto place = static_cast<std::int64_t>(fde.place) - static_cast<std::int64_t>(section_size_);
    if (start <= last) add(at, Rule::kHdrOrder, "is not above the row before");
    if (start != fde.begin - hdr_place)
      add(at, Rule::kHdrStart, std::to_string(start) + ", must be " + std::to_string(fde.begin - hdr_place));
    if (to_fde != place)
      add(at + 4, Rule::kHdrFde, std::to_string(to_fde) + ", must be " + std::to_string(place));
    last = start;
  }
}

}  // namespace

std::optional<Tables> read_tables(const RecordView& record, Findings& findings) {
  ByteReader body = record.reader();
  Tables tables;
  tables.offset = record.offset;
  tables.size = body.u64();
  tables.hdr_size = body.u64();
  tables.mapped = body.u64();
  if (body.failed() || body.left() != tables.size) {
    findings.add(record.offset + kSizeAt, Rule::kUnwindSize,
                 words(tables.size) + ", but the record has " + words(body.left()) + " bytes of tables");
    return std::nullopt;
  }
  tables.blob = body.rest();
  tables.blob_offset = body.offset();
  return tables;
}

void check_tables(Tables& tables, const Code& code, Findings& findings) {
  const std::uint64_t hdr = tables.hdr_size;
  if (hdr > tables.size || hdr < kHdrHeadSize || (hdr - kHdrHeadSize) % kHdrRowSize != 0) {
    findings.add(tables.offset + kHdrSizeAt, Rule::kUnwindHdrSize, words(hdr) + " of " + words(tables.size));
    return;
  }
  if (tables.mapped != 0 && tables.mapped < tables.size)
    findings.add(tables.offset + kMappedAt, Rule::kUnwindMapped,
                 words(tables.mapped) + " is not 0 and less than the tables' " + words(tables.size));
  if ((tables.size - hdr) % 8 != 0)
    findings.add(tables.offset + kSizeAt, Rule::kUnwindAlign,
                 words(tables.size - hdr) + " bytes of .eh_frame are no multiple of 8");
  if (tables.size != hdr && std::equal(std::begin(kHdrStart), std::end(kHdrStart), tables.blob.begin())) {
    findings.add(tables.blob_offset, Rule::kUnwindOrder, "begins with the header");
    return;
  }
  TableChecker(tables, code, findings).run();
}

}  // namespace jitquill::jitdump
