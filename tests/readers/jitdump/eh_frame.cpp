#include "tests/readers/jitdump/eh_frame.hpp"

#include <algorithm>
#include <string>

namespace jitdump_reader {
namespace {

constexpr std::uint8_t kPcrelSdata4 = 0x1B;
constexpr std::uint8_t kUdata4 = 0x03;
constexpr std::uint8_t kDatarelSdata4 = 0x3B;
constexpr std::uint64_t kHdrFixedSize = 12;
constexpr std::uint64_t kHdrRowSize = 8;

std::uint64_t round_up_8(std::uint64_t size) {
  return (size + 7) & ~std::uint64_t{7};
}

std::string expected(std::int64_t is, std::int64_t wanted) {
  return "is " + std::to_string(is) + ", must be " + std::to_string(wanted);
}

struct Cie {
  std::uint64_t position = 0;  // in .eh_frame
  CfiProgram::Factors factors;
  Cursor instructions{{}, 0};
};

struct Fde {
  std::uint64_t position = 0;     // in .eh_frame
  std::uint64_t begin_field = 0;  // file offset of pc_begin
  std::uint64_t range_field = 0;  // file offset of pc_range
  std::int64_t begin = 0;         // from the function's start
  std::uint64_t range = 0;
  const Cie* cie = nullptr;
  Cursor instructions{{}, 0};
};

class BlobParser {
 public:
  BlobParser(Cursor blob, std::uint64_t code_size, Unwinding& unwinding, Violations& found)
      : blob_(blob), base_(round_up_8(code_size)), code_size_(code_size), out_(unwinding), found_(found) {
    cies_.reserve(blob.left() / 8);  // FDEs keep pointers to them
  }

  void parse() {
    Cursor section = blob_.part(eh_frame_size());
    while (section.left() > 0 && entry(section)) {
    }
    check_coverage();
    header();
    run();
  }

 private:
  std::uint64_t eh_frame_size() const { return out_.size - out_.hdr_size; }

  void add(std::uint64_t offset, Rule rule, std::string reason) {
    found_.push_back({offset, rule, std::move(reason)});
  }

  // A CIE, an FDE, or the zeros that end the section. False: nothing more can be read.
  bool entry(Cursor& section) {
    const std::uint64_t at = section.offset();
    const std::uint64_t position = section.done();
    const std::uint32_t length = section.u32();
    if (!section.failed() && length == 0) return terminator(section, at);
    if (section.failed() || length < 4 || length > section.left() || (length + 4) % 4 != 0) {
      add(at, Rule::kEhEntry, "length " + std::to_string(length) + " does not fit or is no multiple of 4");
      return false;
    }
    Cursor body = section.part(length);
    const std::uint64_t id_at = body.offset();
    const std::uint32_t id = body.u32();
    if (id == 0) return cie(body, position);
    return fde(body, position, id, id_at);
  }

  bool terminator(Cursor& section, std::uint64_t at) {
    const auto rest = section.rest();
    const bool zeros = std::all_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte == 0; });
    if (!zeros || rest.size() > 4)
      add(at, Rule::kEhEntry, "more than 8 zero bytes, or data, behind the terminator");
    return false;
  }

  // [version 1][ "zR" 0 ][code factor][data factor][return column][size of augmentation 1][encoding 1B]
  bool cie(Cursor& body, std::uint64_t position) {
    const std::uint64_t at = body.offset();
    const std::uint8_t version = body.u8();
    const std::string_view augmentation = body.text();
    Cie cie;
    cie.position = position;
    cie.factors.code = body.uleb();
    cie.factors.data = body.sleb();
    const std::uint64_t column = version == 1 ? body.u8() : body.uleb();
    const std::uint64_t augmentation_size = body.uleb();
    const std::uint8_t encoding = body.u8();
    const char* wrong = nullptr;
    if (body.failed())
      wrong = "the fields leave the entry";
    else if (version != 1 && version != 3)
      wrong = "version must be 1 or 3";
    else if (augmentation != "zR")
      wrong = "augmentation must be zR";
    else if (cie.factors.code != 1)
      wrong = "x86-64 code is counted in bytes: the code factor must be 1";
    else if (cie.factors.data != -8)
      wrong = "x86-64 saves words of 8 bytes: the data factor must be -8";
    else if (column != kReturnColumn)
      wrong = "the return address column must be 16";
    else if (augmentation_size != 1)
      wrong = "augmentation data of zR is one byte";
    else if (encoding != kPcrelSdata4)
      wrong = "the pointer encoding must be 1B (pcrel, sdata4)";
    if (wrong != nullptr) {
      add(at, Rule::kCie, wrong);
      return false;
    }
    cie.instructions = body.part(body.left());
    cies_.push_back(cie);
    return true;
  }

  // [distance to the CIE][pc_begin][pc_range][size of augmentation 0]
  bool fde(Cursor& body, std::uint64_t position, std::uint32_t distance, std::uint64_t id_at) {
    Fde fde;
    fde.position = position;
    for (const Cie& cie : cies_) {
      if (cie.position + distance == position + 4) fde.cie = &cie;
    }
    if (fde.cie == nullptr) {
      add(id_at, Rule::kFde, "no CIE lies " + std::to_string(distance) + " bytes in front");
      return false;
    }
    fde.begin_field = body.offset();
    const auto field_in_function = static_cast<std::int64_t>(base_ + position + 8);
    fde.begin = body.i32() + field_in_function;
    fde.range_field = body.offset();
    fde.range = body.u32();
    const std::uint64_t augmentation_at = body.offset();
    const std::uint64_t augmentation_size = body.uleb();
    if (body.failed() || augmentation_size != 0) {
      add(augmentation_at, Rule::kFde,
          "the fields leave the entry, or augmentation data where there is none");
      return false;
    }
    fde.instructions = body.part(body.left());
    fdes_.push_back(fde);
    return true;
  }

  // The second FDE says of the code behind the twin what the first says of the code itself.
  bool is_twin() const {
    if (fdes_.size() != 2 || fdes_[0].begin != 0) return false;
    return fdes_[1].begin >= static_cast<std::int64_t>(code_size_) && fdes_[1].begin <= INT32_MAX;
  }

  void check_twin() {
    const auto first = fdes_[0].instructions.rest();
    const auto second = fdes_[1].instructions.rest();
    if (fdes_[0].cie != fdes_[1].cie ||
        !std::equal(first.begin(), first.end(), second.begin(), second.end())) {
      add(fdes_[1].begin_field, Rule::kFde, "describes another frame at the twin than at the code");
    }
    const auto wanted = static_cast<std::int64_t>(code_size_);
    for (const Fde& fde : fdes_) {
      const auto range = static_cast<std::int64_t>(fde.range);
      if (range != wanted) add(fde.range_field, Rule::kFdeRange, "size " + expected(range, wanted));
    }
    out_.twin_distance = static_cast<std::uint64_t>(fdes_[1].begin);
  }

  // Sorted by start, the FDEs must cover the code from its first byte to its last, without gap or overlap.
  void check_coverage() {
    std::stable_sort(fdes_.begin(), fdes_.end(),
                     [](const Fde& a, const Fde& b) { return a.begin < b.begin; });
    if (is_twin()) return check_twin();
    std::int64_t covered = 0;
    for (const Fde& fde : fdes_) {
      if (fde.begin != covered) {
        add(fde.begin_field, Rule::kFdeBegin, "start in the function " + expected(fde.begin, covered));
      }
      covered = fde.begin + static_cast<std::int64_t>(fde.range);
    }
    if (!fdes_.empty() && covered != static_cast<std::int64_t>(code_size_)) {
      add(fdes_.back().range_field, Rule::kFdeRange,
          "end in the function " + expected(covered, static_cast<std::int64_t>(code_size_)));
    }
  }

  // [1][1B][03][3B][pointer to .eh_frame][number of FDEs][rows: start, FDE]
  void header() {
    Cursor hdr = blob_.part(out_.hdr_size);
    const std::uint64_t at = hdr.offset();
    const std::uint8_t version = hdr.u8();
    const std::uint8_t pointer = hdr.u8();
    const std::uint8_t count_encoding = hdr.u8();
    const std::uint8_t table = hdr.u8();
    if (version != 1 || pointer != kPcrelSdata4 || count_encoding != kUdata4 || table != kDatarelSdata4) {
      add(at, Rule::kHdrEncoding, "the first bytes are not 01 1B 03 3B");
      return;
    }
    const std::uint64_t pointer_at = hdr.offset();
    const std::int64_t to_eh_frame = hdr.i32();
    const std::int64_t wanted = -static_cast<std::int64_t>(eh_frame_size() + 4);
    if (to_eh_frame != wanted) add(pointer_at, Rule::kHdrPointer, expected(to_eh_frame, wanted));
    const std::uint64_t count_at = hdr.offset();
    const std::uint32_t count = hdr.u32();
    out_.frame_pointers = eh_frame_size() == 0 && count == 0 && out_.mapped == 0;
    if (out_.frame_pointers) return;  // the rows' place may be filled with anything
    if (count != fdes_.size() || count == 0 || hdr.left() != count * kHdrRowSize) {
      add(count_at, Rule::kHdrCount,
          std::to_string(count) + " rows for " + std::to_string(fdes_.size()) + " FDEs in " +
              std::to_string(hdr.left()) + " bytes");
      return;
    }
    rows(hdr);
  }

  void rows(Cursor& hdr) {
    const auto hdr_in_function = static_cast<std::int64_t>(base_ + eh_frame_size());
    std::int64_t last = INT64_MIN;
    for (const Fde& fde : fdes_) {
      const std::uint64_t start_at = hdr.offset();
      const std::int64_t start = hdr.i32();
      const std::uint64_t fde_at = hdr.offset();
      const std::int64_t to_fde = hdr.i32();
      if (start <= last) add(start_at, Rule::kHdrOrder, "row starts do not ascend");
      last = start;
      if (start != fde.begin - hdr_in_function) {
        add(start_at, Rule::kHdrStart, expected(start, fde.begin - hdr_in_function));
      }
      const auto wanted =
          static_cast<std::int64_t>(fde.position) - static_cast<std::int64_t>(eh_frame_size());
      if (to_fde != wanted) add(fde_at, Rule::kHdrFde, expected(to_fde, wanted));
    }
  }

  void run() {
    for (const Fde& fde : fdes_) {
      if (fde.begin < 0 || static_cast<std::uint64_t>(fde.begin) + fde.range > code_size_)
        continue;  // reported
      CfiProgram program(fde.cie->factors, static_cast<std::uint64_t>(fde.begin), fde.range, found_);
      program.run_initial(fde.cie->instructions);
      program.run(fde.instructions);
      for (FrameRow& row : program.finish(fde.instructions.offset())) out_.rows.push_back(row);
    }
  }

  Cursor blob_;
  std::uint64_t base_;
  std::uint64_t code_size_;
  Unwinding& out_;
  Violations& found_;
  std::vector<Cie> cies_;
  std::vector<Fde> fdes_;
};

bool starts_like_a_header(Cursor blob) {
  return blob.u8() == 1 && blob.u8() == kPcrelSdata4 && blob.u8() == kUdata4 && blob.u8() == kDatarelSdata4;
}

}  // namespace

const FrameRow* row_at(const Unwinding& unwinding, std::uint64_t pc) {
  const FrameRow* found = nullptr;
  for (const FrameRow& row : unwinding.rows) {
    if (row.start <= pc) found = &row;
  }
  return found;
}

void parse_unwinding(Cursor blob, std::uint64_t code_size, const UnwindingFields& fields,
                     Unwinding& unwinding, Violations& found) {
  const std::uint64_t hdr = unwinding.hdr_size;
  if (hdr > unwinding.size || hdr < kHdrFixedSize || (hdr - kHdrFixedSize) % kHdrRowSize != 0) {
    found.push_back(
        {fields.hdr_size_at, Rule::kUnwindHdrSize,
         "header of " + std::to_string(hdr) + " bytes in a blob of " + std::to_string(unwinding.size)});
    return;
  }
  if (unwinding.mapped != 0 && unwinding.mapped < unwinding.size) {
    found.push_back({fields.mapped_at, Rule::kUnwindMapped,
                     std::to_string(unwinding.mapped) + " is neither 0 nor at least the blob's size"});
  }
  const std::uint64_t eh_frame = unwinding.size - hdr;
  if (eh_frame % 8 != 0) {
    found.push_back({fields.size_at, Rule::kUnwindAlign,
                     ".eh_frame of " + std::to_string(eh_frame) + " bytes is no multiple of 8"});
  }
  if (eh_frame > 0 && starts_like_a_header(blob)) {
    found.push_back({blob.offset(), Rule::kUnwindOrder, "the header lies in front of .eh_frame"});
    return;
  }
  BlobParser(blob, code_size, unwinding, found).parse();
}

}  // namespace jitdump_reader
