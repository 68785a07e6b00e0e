#include "tests/readers/jitdump/reader.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

namespace jitdump_reader {
namespace {

constexpr std::uint32_t kMagic = 0x4A695444;
constexpr std::uint64_t kHeaderBytes = 40;
constexpr std::uint64_t kPrefixBytes = 16;
constexpr std::uint64_t kLoadFixedBytes = 56;  // with the prefix
constexpr std::uint64_t kRowFixedBytes = 16;
constexpr std::uint64_t kLongestName = 4096;
constexpr std::uint64_t kCodeLimit = std::uint64_t{1} << 31;
constexpr std::uint64_t kIndexLimit = std::uint64_t{1} << 32;
constexpr std::uint64_t kArchTimestamp = 1;
// The first announcement takes its stamp, then opens the file: it may be older than the header by that much.
constexpr std::uint64_t kOlderThanHeaderNs = 1'000'000'000;
constexpr std::uint32_t kMachines[] = {3, 8, 20, 21, 22, 40, 43, 62, 183, 243, 258};

enum RecordId : std::uint32_t { kLoad = 0, kMoved = 1, kDebug = 2, kClose = 3, kUnwinding = 4 };

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

struct Prefix {
  std::uint64_t offset = 0;
  std::uint32_t id = 0;
  std::uint32_t size = 0;
  std::uint64_t when = 0;
};

struct PendingDebug {
  std::uint64_t offset = 0;  // of the record
  std::uint64_t address = 0;
  std::vector<Line> lines;
  std::vector<std::uint64_t> offsets;  // of the rows
};

struct PendingUnwinding {
  std::uint64_t offset = 0;
  Unwinding unwinding;
  UnwindingFields fields;
  Cursor blob{{}, 0};
};

class Reader {
 public:
  Reader(std::span<const std::uint8_t> file, const Expectations& expectations)
      : file_(file, 0), expect_(expectations) {}

  Dump read() {
    if (header()) {
      while (file_.left() > 0 && record()) {
      }
      if (!expect_.may_be_torn) no_pending("the file ends");
      if (expect_.nothing_freed) report_overlaps(dump_);
    }
    return std::move(dump_);
  }

 private:
  void add(std::uint64_t offset, Rule rule, std::string reason) {
    dump_.violations.push_back({offset, rule, std::move(reason)});
  }

  bool header();
  void header_values(const Header& header, std::uint32_t pad);
  bool record();
  bool prefix(Prefix& prefix);
  void check_time(const Prefix& prefix);
  void load(const Prefix& prefix, Cursor body);
  void load_values(const Function& function, std::uint64_t vma, std::uint64_t code_size);
  void load_name(const Function& function);
  void debug(const Prefix& prefix, Cursor body);
  bool debug_row(Cursor& body, PendingDebug& pending);
  void attach_lines(Function& function);
  void check_rows(const PendingDebug& pending, const Function& function);
  void unwinding(const Prefix& prefix, Cursor body);
  void attach_unwinding(Function& function);
  void close(const Prefix& prefix);
  void no_pending(const char* why);

  Cursor file_;
  Expectations expect_;
  Dump dump_;
  std::optional<PendingDebug> debug_;
  std::optional<PendingUnwinding> unwinding_;
  std::set<std::uint64_t> indexes_;
  std::uint64_t latest_load_ = 0;
};

// [magic][version][size][machine][pad][pid][time][flags]
bool Reader::header() {
  const std::uint32_t magic = file_.u32();
  const std::uint32_t version = file_.u32();
  const std::uint32_t size = file_.u32();
  Header& header = dump_.header;
  header.machine = file_.u32();
  const std::uint32_t pad = file_.u32();
  header.pid = file_.u32();
  header.when = file_.u64();
  header.flags = file_.u64();
  if (file_.failed()) {
    add(0, Rule::kHeaderSize, "the file is shorter than its header");
    return false;
  }
  if (magic != kMagic) {
    add(0, Rule::kHeaderMagic, "not a jitdump file of this byte order");
    return false;
  }
  if (version != 1) add(4, Rule::kHeaderVersion, "version " + std::to_string(version) + ", must be 1");
  if (size != kHeaderBytes) add(8, Rule::kHeaderSize, "size " + std::to_string(size) + ", must be 40");
  header_values(header, pad);
  return true;
}

void Reader::header_values(const Header& header, std::uint32_t pad) {
  if (std::find(std::begin(kMachines), std::end(kMachines), header.machine) == std::end(kMachines)) {
    add(12, Rule::kHeaderMachine, "unknown machine " + std::to_string(header.machine));
  }
  if (pad != 0) add(16, Rule::kHeaderPad, "is not 0");
  if (header.pid == 0 || header.pid != expect_.pid.value_or(header.pid)) {
    add(20, Rule::kHeaderPid, "pid " + std::to_string(header.pid));
  }
  if ((header.flags & ~kArchTimestamp) != 0) add(32, Rule::kHeaderFlags, "unknown flags");
  const bool in_ns = (header.flags & kArchTimestamp) == 0;
  if (header.when == 0 || (in_ns && header.when > expect_.latest_ns.value_or(UINT64_MAX))) {
    add(24, Rule::kHeaderTime, "0, or later than now");
  }
}

bool Reader::prefix(Prefix& prefix) {
  prefix.offset = file_.offset();
  const std::uint64_t available = file_.left();
  prefix.id = file_.u32();
  prefix.size = file_.u32();
  prefix.when = file_.u64();
  if (file_.failed() || (prefix.size >= kPrefixBytes && prefix.size > available)) {
    dump_.torn = true;
    if (!expect_.may_be_torn) add(prefix.offset, Rule::kRecordTorn, "the file ends inside the record");
    return false;
  }
  if (prefix.size < kPrefixBytes || (prefix.size == kPrefixBytes && prefix.id != kClose)) {
    add(prefix.offset + 4, Rule::kRecordSize, "size " + std::to_string(prefix.size) + " leaves no body");
    return false;
  }
  return true;
}

bool Reader::record() {
  Prefix prefix;
  const bool was_closed = dump_.closed;
  if (!this->prefix(prefix)) return false;
  if (was_closed) {
    add(prefix.offset, Rule::kCloseLast, "a record behind a close record");
    dump_.closed = false;
  }
  check_time(prefix);
  const Cursor body = file_.part(prefix.size - kPrefixBytes);
  switch (prefix.id) {
    case kLoad:
      load(prefix, body);
      break;
    case kMoved:
      add(prefix.offset, Rule::kMove, "code must be loaded anew at its new place");
      break;
    case kDebug:
      debug(prefix, body);
      break;
    case kClose:
      close(prefix);
      break;
    case kUnwinding:
      unwinding(prefix, body);
      break;
    default:
      add(prefix.offset, Rule::kRecordId, "unknown record " + std::to_string(prefix.id));
  }
  return true;
}

void Reader::check_time(const Prefix& prefix) {
  const bool in_ns = (dump_.header.flags & kArchTimestamp) == 0;
  const char* wrong = nullptr;
  if (prefix.when == 0)
    wrong = "no time stamp";
  else if (in_ns && prefix.when > expect_.latest_ns.value_or(UINT64_MAX))
    wrong = "later than now";
  else if (in_ns && prefix.when < dump_.header.when && dump_.header.when - prefix.when > kOlderThanHeaderNs) {
    wrong = "older than the file by more than a second";
  }
  if (wrong != nullptr) add(prefix.offset + 8, Rule::kRecordTime, wrong);
}

// [prefix][pid][tid][vma][code_addr][code_size][code_index][name NUL][code]
void Reader::load(const Prefix& prefix, Cursor body) {
  Function function;
  function.offset = prefix.offset;
  function.when = prefix.when;
  function.pid = body.u32();
  function.tid = body.u32();
  const std::uint64_t vma = body.u64();
  function.address = body.u64();
  const std::uint64_t code_size = body.u64();
  function.index = body.u64();
  if (body.failed()) return add(prefix.offset + 4, Rule::kLoadSize, "too small for its fields");
  const std::string_view name = body.text();
  if (body.failed()) return add(prefix.offset + kLoadFixedBytes, Rule::kLoadName, "no NUL inside the record");
  if (body.left() != code_size) {
    return add(prefix.offset + 4, Rule::kLoadSize,
               std::to_string(body.left()) + " bytes of code, code_size says " + std::to_string(code_size));
  }
  function.name = name;
  const auto code = body.take(code_size);
  function.code.assign(code.begin(), code.end());
  load_values(function, vma, code_size);
  load_name(function);
  attach_lines(function);
  attach_unwinding(function);
  latest_load_ = std::max(latest_load_, prefix.when);
  dump_.functions.push_back(std::move(function));
}

void Reader::load_values(const Function& function, std::uint64_t vma, std::uint64_t code_size) {
  const std::uint64_t at = function.offset;
  if (function.pid != dump_.header.pid) add(at + 16, Rule::kLoadPid, "pid differs from the header's");
  if (function.tid == 0 || function.tid > INT32_MAX) add(at + 20, Rule::kLoadTid, "no kernel thread number");
  if (vma != function.address) add(at + 24, Rule::kLoadVma, "differs from code_addr");
  if (function.address == 0 || function.address + code_size < function.address) {
    add(at + 32, Rule::kLoadAddress, "0, or the code leaves the address space");
  }
  if (code_size == 0 || code_size >= kCodeLimit) {
    add(at + 40, Rule::kLoadCodeSize, std::to_string(code_size) + " bytes of code");
  }
  if (function.index == 0 || function.index >= kIndexLimit) {
    add(at + 48, Rule::kLoadIndex, "0, or above 32 bits");
  } else if (!indexes_.insert(function.index).second) {
    add(at + 48, Rule::kLoadIndex, std::to_string(function.index) + " is used twice");
  }
}

void Reader::load_name(const Function& function) {
  const std::uint64_t at = function.offset + kLoadFixedBytes;
  if (function.name.empty()) add(at, Rule::kLoadName, "empty");
  if (has_control(function.name)) add(at, Rule::kLoadName, "control characters");
  if (function.name.size() > kLongestName) {
    add(at, Rule::kLoadName, std::to_string(function.name.size()) + " bytes, more than 4096");
  }
}

// [prefix][code_addr][nr_entry][rows: addr, line, column, file NUL]
void Reader::debug(const Prefix& prefix, Cursor body) {
  if (debug_) add(debug_->offset, Rule::kGroupTwice, "another debug record follows before the load");
  debug_.reset();
  PendingDebug pending;
  pending.offset = prefix.offset;
  pending.address = body.u64();
  const std::uint64_t count = body.u64();
  if (body.failed()) return add(prefix.offset + 4, Rule::kDebugSize, "too small for its fields");
  if (count == 0) add(prefix.offset + 24, Rule::kDebugEmpty, "no rows");
  for (std::uint64_t row = 0; row < count; ++row) {
    if (debug_row(body, pending)) continue;
    return add(prefix.offset + 24, Rule::kDebugCount,
               std::to_string(count) + " rows, but row " + std::to_string(row) + " leaves the record");
  }
  if (body.left() != 0) {
    add(prefix.offset + 4, Rule::kDebugSize, std::to_string(body.left()) + " bytes behind the last row");
  }
  debug_ = std::move(pending);
}

bool Reader::debug_row(Cursor& body, PendingDebug& pending) {
  const std::uint64_t at = body.offset();
  Line row;
  row.address = body.u64();
  row.line = body.u32();
  row.column = body.u32();
  row.file = body.text();
  if (body.failed()) return false;
  if (row.file.empty() || has_control(row.file) || row.file == "\xFF") {
    add(at + kRowFixedBytes, Rule::kDebugName,
        "empty, a control character, or the mark FF 00 (unknown to perf 6.1)");
  }
  if (row.line > INT32_MAX) add(at + 8, Rule::kDebugLine, "negative");
  pending.lines.push_back(std::move(row));
  pending.offsets.push_back(at);
  return true;
}

void Reader::attach_lines(Function& function) {
  if (!debug_) return;
  PendingDebug pending = std::move(*debug_);
  debug_.reset();
  // The record's own address says whose it is: with a stranger's rows nothing below would hold.
  const bool other_rows = !pending.lines.empty() && pending.lines.front().address != function.address;
  if (pending.address != function.address && other_rows) {
    return add(pending.offset, Rule::kGroupStranger, "lines of other code than the load's");
  }
  if (pending.address != function.address) add(pending.offset + 16, Rule::kDebugAddress, "is not the load's");
  check_rows(pending, function);
  function.lines = std::move(pending.lines);
}

void Reader::check_rows(const PendingDebug& pending, const Function& function) {
  const std::uint64_t end = function.address + function.code.size();
  for (std::size_t i = 0; i < pending.lines.size(); ++i) {
    const std::uint64_t address = pending.lines[i].address;
    if (address < function.address || address > end) {
      add(pending.offsets[i], Rule::kDebugRange, "row outside the code");
    } else if (i > 0 && address <= pending.lines[i - 1].address) {
      add(pending.offsets[i], Rule::kDebugOrder, "row not above the one in front");
    }
  }
  if (pending.lines.empty()) return;
  if (pending.lines.front().address > function.address) {
    add(pending.offsets.front(), Rule::kDebugFirst, "the first row is not at the code's start");
  }
  if (pending.lines.back().address != end || pending.lines.size() < 2) {
    add(pending.offsets.back(), Rule::kDebugSentinel, "the last row is not at the code's end");
  }
}

// [prefix][unwinding_size U][eh_frame_hdr_size H][mapped_size M][blob]
void Reader::unwinding(const Prefix& prefix, Cursor body) {
  if (unwinding_)
    add(unwinding_->offset, Rule::kGroupTwice, "another unwinding record follows before the load");
  unwinding_.reset();
  PendingUnwinding pending;
  pending.offset = prefix.offset;
  pending.fields = {prefix.offset + 16, prefix.offset + 24, prefix.offset + 32};
  pending.unwinding.size = body.u64();
  pending.unwinding.hdr_size = body.u64();
  pending.unwinding.mapped = body.u64();
  if (body.failed() || body.left() != pending.unwinding.size) {
    return add(pending.fields.size_at, Rule::kUnwindSize,
               std::to_string(body.left()) + " bytes of blob, unwinding_size says " +
                   std::to_string(pending.unwinding.size));
  }
  pending.blob = body;
  unwinding_ = std::move(pending);
}

void Reader::attach_unwinding(Function& function) {
  if (!unwinding_) return;
  PendingUnwinding pending = std::move(*unwinding_);
  unwinding_.reset();
  parse_unwinding(pending.blob, function.code.size(), pending.fields, pending.unwinding, dump_.violations);
  function.unwinding = std::move(pending.unwinding);
}

void Reader::close(const Prefix& prefix) {
  no_pending("the file is closed");
  if (prefix.size != kPrefixBytes) add(prefix.offset + 4, Rule::kCloseSize, "size must be 16");
  if (prefix.when < latest_load_) add(prefix.offset + 8, Rule::kRecordTime, "closed before the last load");
  dump_.closed = true;
}

void Reader::no_pending(const char* why) {
  if (debug_) add(debug_->offset, Rule::kGroupOrphan, std::string("lines without a load when ") + why);
  if (unwinding_)
    add(unwinding_->offset, Rule::kGroupOrphan, std::string("unwinding without a load when ") + why);
  debug_.reset();
  unwinding_.reset();
}

}  // namespace

Dump read(std::span<const std::uint8_t> file, const Expectations& expectations) {
  return Reader(file, expectations).read();
}

}  // namespace jitdump_reader
