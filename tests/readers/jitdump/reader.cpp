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
constexpr std::uint64_t kLongestName = 4096;
constexpr std::uint64_t kCodeLimit = std::uint64_t{1} << 31;
constexpr std::uint64_t kIndexLimit = std::uint64_t{1} << 32;
constexpr std::uint64_t kArchTimestamp = 1;
// The first announcement takes its stamp, then opens the file: it may be older than the header by that much.
constexpr std::uint64_t kOlderThanHeaderNs = 1'000'000'000;
constexpr std::uint32_t kMachines[] = {3, 8, 20, 21, 22, 40, 43, 62, 183, 243, 258};

enum RecordId : std::uint32_t { kLoad = 0, kMoved = 1, kDebug = 2, kClose = 3, kUnwinding = 4 };

struct Prefix {
  std::uint64_t offset = 0;
  std::uint32_t id = 0;
  std::uint32_t size = 0;
  std::uint64_t when = 0;
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
  void attach_lines(Function& function);
  void unwinding(const Prefix& prefix, Cursor body);
  void attach_unwinding(Function& function);
  bool is_twin(const Function& function) const;
  bool is_partner(const Function& function) const;
  void add_function(Function&& function);
  void close(const Prefix& prefix);
  void no_pending(const char* why);

  Cursor file_;
  Expectations expect_;
  Dump dump_;
  std::optional<DebugInfo> debug_;
  std::optional<PendingUnwinding> unwinding_;
  std::span<const std::uint8_t> blob_;  // of the last load that had one
  std::optional<Function> twin_;        // whose function must be the next load
  std::span<const std::uint8_t> twin_blob_;
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
  add_function(std::move(function));
}

bool Reader::is_twin(const Function& function) const {
  return !twin_ && function.unwinding && function.unwinding->twin_distance != 0;
}

// Whether it is the function whose twin came just before.
bool Reader::is_partner(const Function& function) const {
  return function.index == twin_->index && function.name == twin_->name && function.code == twin_->code &&
         function.address == twin_->address + twin_->unwinding->twin_distance && function.unwinding &&
         function.unwinding->mapped == 0 && twin_->unwinding->mapped != 0 &&
         std::equal(blob_.begin(), blob_.end(), twin_blob_.begin(), twin_blob_.end());
}

void Reader::add_function(Function&& function) {
  if (is_twin(function)) {
    twin_blob_ = blob_;
    twin_ = std::move(function);
    return;
  }
  if (twin_ && is_partner(function)) {
    function.twin = twin_->address;
  } else if (twin_) {
    add(twin_->offset, Rule::kTwin, "the next load is not the function that this twin belongs to");
  }
  twin_.reset();
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
  } else if (!indexes_.insert(function.index).second && !(twin_ && twin_->index == function.index)) {
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

void Reader::debug(const Prefix& prefix, Cursor body) {
  if (debug_) add(debug_->offset, Rule::kGroupTwice, "another debug record follows before the load");
  debug_ = parse_debug_info(prefix.offset, body, dump_.violations);
}

void Reader::attach_lines(Function& function) {
  if (!debug_) return;
  DebugInfo info = std::move(*debug_);
  debug_.reset();
  if (check_debug_info(info, function.address, function.code.size(), dump_.violations)) {
    function.lines = std::move(info.lines);
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
  blob_ = pending.blob.rest();
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
  if (twin_) add(twin_->offset, Rule::kTwin, std::string("a twin without its function when ") + why);
  debug_.reset();
  unwinding_.reset();
  twin_.reset();
}

}  // namespace

Dump read(std::span<const std::uint8_t> file, const Expectations& expectations) {
  return Reader(file, expectations).read();
}

}  // namespace jitdump_reader
