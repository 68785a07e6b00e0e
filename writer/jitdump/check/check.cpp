#include "writer/jitdump/check/check.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <string>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "writer/bytes/names.hpp"
#include "writer/jitdump/check/parts.hpp"
#include "writer/jitdump/records.hpp"

namespace jitquill::jitdump {
namespace {

constexpr std::uint64_t kCodeLimit = std::uint64_t{1} << 31;   // perf keeps it in an int
constexpr std::uint64_t kIndexLimit = std::uint64_t{1} << 32;  // perf before 2020 printed 32 bits
constexpr std::uint32_t kMoveBytes = 64;
constexpr std::uint32_t kPrefixBytes = 16;
constexpr std::uint32_t kNameAt = 56;
constexpr std::uint64_t kCounterStamps = 1;  // the one flag
// Who announces first takes the stamp and makes the file afterwards.
constexpr std::uint64_t kOlderThanHeaderNs = 1'000'000'000;
constexpr std::uint32_t kMachines[] = {3, 8, 20, 21, 22, 40, 43, 62, 183, 243, 258};

std::uint64_t hash_of(std::span<const std::uint8_t> bytes) noexcept {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::hash<std::string_view>{}(text);
}

class Checker {
 public:
  Checker(std::span<const std::uint8_t> file, const Expected& expected) : walk_(file), expected_(expected) {}

  CheckResult run() &&;

 private:
  struct Function {
    RecordView record;
    LoadView load;
    std::optional<Tables> tables;
  };

  void add(std::uint64_t offset, Rule rule, std::string reason) {
    result_.findings.add(offset, rule, std::move(reason));
  }
  void check_header();
  void check_end();
  void check_time(const RecordView& record);
  void check_record(const RecordView& record);
  void check_load(const RecordView& record);
  void check_load_fields(const RecordView& record, const LoadView& load);
  void check_name(const RecordView& record, const LoadView& load);
  void check_index(const RecordView& record, const LoadView& load);
  void check_equal_code(const Function& function);
  void check_twin(Function function);
  bool is_partner_of_twin(const Function& function) const;
  void check_move(const RecordView& record);
  void check_lines_record(const RecordView& record);
  void check_tables_record(const RecordView& record);
  void check_close(const RecordView& record);
  void check_nothing_waits(const char* when);
  bool counts_ns() const noexcept { return (walk_.header().flags & kCounterStamps) == 0; }

  RecordWalk walk_;
  Expected expected_;
  CheckResult result_;
  std::optional<RecordView> lines_;  // waiting for their load
  std::optional<Tables> tables_;
  std::optional<Function> twin_;
  std::unordered_map<std::uint64_t, Code> by_index_;
  std::unordered_set<std::uint64_t> code_hashes_;
  std::uint64_t latest_load_ = 0;
};

CheckResult Checker::run() && {
  if (walk_.end() == RecordWalk::End::kNotYet) check_header();
  while (const auto record = walk_.next()) {
    ++result_.records;
    check_record(*record);
  }
  check_end();
  return std::move(result_);
}

void Checker::check_header() {
  const HeaderView& header = walk_.header();
  if (header.version != kVersion) add(4, Rule::kHeaderVersion, words(header.version) + ", must be 1");
  if (header.size != kHeaderSize) add(8, Rule::kHeaderSize, words(header.size) + ", must be 40");
  if (std::find(std::begin(kMachines), std::end(kMachines), header.machine) == std::end(kMachines))
    add(12, Rule::kHeaderMachine, "no machine that JITs write for has number " + words(header.machine));
  if (header.pad != 0) add(16, Rule::kHeaderPad, hex_words(header.pad) + " where 0 belongs");
  if (header.pid == 0 || header.pid != expected_.pid.value_or(header.pid))
    add(20, Rule::kHeaderPid,
        words(header.pid) + (expected_.pid ? ", must be " + words(*expected_.pid) : ""));
  if ((header.flags & ~kCounterStamps) != 0) add(32, Rule::kHeaderFlags, hex_words(header.flags));
  const bool is_later = counts_ns() && header.when > expected_.latest_ns.value_or(UINT64_MAX);
  if (header.when == 0 || is_later)
    add(24, Rule::kHeaderTime, header.when == 0 ? "there is none" : "lies in the future");
}

void Checker::check_end() {
  using End = RecordWalk::End;
  const std::uint64_t at = walk_.offset();
  result_.whole_bytes = at;
  const std::uint32_t swapped = __builtin_bswap32(kMagic);
  switch (walk_.end()) {
    case End::kWrongMagic:
      result_.is_jitdump = walk_.header().magic == swapped;
      if (result_.is_jitdump) add(0, Rule::kHeaderOrder, "the magic is the other way round");
      if (!result_.is_jitdump) add(0, Rule::kHeaderMagic, hex_words(walk_.header().magic));
      return;
    case End::kNoHeader:
      return add(0, Rule::kHeaderShort, "the file ends inside of its header of 40 bytes");
    case End::kTorn:
      result_.is_torn = true;
      if (!expected_.was_killed)
        add(at, Rule::kRecordTorn,
            "the file ends inside of this record: its process was killed while it wrote, or writes still");
      break;
    case End::kNoSize:
      add(at + 4, Rule::kRecordSize, "too small for a body");
      break;
    case End::kZeroes:
      add(at, Rule::kZeroTail, "nothing but zeroes from here on");
      break;
    default:
      break;
  }
  if (!expected_.was_killed) check_nothing_waits("the file ends");
}

void Checker::check_time(const RecordView& record) {
  const char* wrong = nullptr;
  if (record.when == 0) {
    wrong = "there is none";
  } else if (counts_ns() && record.when > expected_.latest_ns.value_or(UINT64_MAX)) {
    wrong = "lies in the future";
  } else if (counts_ns() && record.when < walk_.header().when &&
             walk_.header().when - record.when > kOlderThanHeaderNs) {
    wrong = "lies more than a second before the file was made";
  }
  if (wrong != nullptr) add(record.offset + 8, Rule::kRecordTime, wrong);
}

void Checker::check_record(const RecordView& record) {
  if (result_.is_closed) add(record.offset, Rule::kCloseLast, "a record behind a close record");
  result_.is_closed = false;
  check_time(record);
  switch (static_cast<RecordId>(record.id)) {
    case RecordId::kCodeLoad:
      return check_load(record);
    case RecordId::kCodeMove:
      return check_move(record);
    case RecordId::kCodeDebugInfo:
      return check_lines_record(record);
    case RecordId::kCodeClose:
      return check_close(record);
    case RecordId::kCodeUnwindingInfo:
      return check_tables_record(record);
    case RecordId::kInlineInfo:
      return add(record.offset, Rule::kRecordId, "samply's record of inlined calls");
  }
  add(record.offset, Rule::kRecordId, "unknown record " + words(record.id));
}

// | prefix | pid | tid | vma | code_addr | code_size | code_index | name NUL | code |
void Checker::check_load(const RecordView& record) {
  Function function{record, load_view(record), std::move(tables_)};
  tables_.reset();
  const auto lines = std::exchange(lines_, std::nullopt);
  const LoadView& load = function.load;
  if (!load.has_fields) return add(record.offset + 4, Rule::kLoadSize, "too small for its fields");
  if (!load.has_name)
    return add(record.offset + kNameAt, Rule::kLoadName, "no NUL ends it inside of the record");
  if (load.code.size() != load.code_size)
    return add(record.offset + 4, Rule::kLoadSize,
               words(load.code.size()) + " bytes behind the name, code_size says " + words(load.code_size));
  ++result_.functions;
  check_load_fields(record, load);
  check_name(record, load);
  check_index(record, load);
  const Code code{load.address, load.code_size};
  if (lines && !check_lines(*lines, code, result_.findings))
    add(lines->offset, Rule::kGroupStranger, "lines of other code than that of the load behind them");
  if (function.tables) check_tables(*function.tables, code, result_.findings);
  latest_load_ = std::max(latest_load_, record.when);
  check_twin(std::move(function));
}

void Checker::check_load_fields(const RecordView& record, const LoadView& load) {
  const std::uint64_t at = record.offset;
  if (load.pid != walk_.header().pid)
    add(at + 16, Rule::kLoadPid, words(load.pid) + ", the header has " + words(walk_.header().pid));
  if (load.tid == 0 || load.tid > INT32_MAX)
    add(at + 20, Rule::kLoadTid, words(load.tid) + " is no thread number of the kernel's");
  if (load.vma != load.address) add(at + 24, Rule::kLoadVma, hex_words(load.vma) + " is not code_addr");
  if (load.address == 0 || load.address + load.code_size < load.address)
    add(at + 32, Rule::kLoadAddress, hex_words(load.address));
  if (load.code_size == 0 || load.code_size >= kCodeLimit)
    add(at + 40, Rule::kLoadCodeSize, words(load.code_size) + " bytes of code");
}

void Checker::check_name(const RecordView& record, const LoadView& load) {
  const std::uint64_t at = record.offset + kNameAt;
  if (load.name.empty()) add(at, Rule::kLoadName, "empty");
  if (has_control(load.name)) add(at, Rule::kLoadName, "control characters in it");
  if (load.name.size() > kMaxNameSize)
    add(at, Rule::kLoadName, words(load.name.size()) + " bytes: longer than some readers' 4096");
}

void Checker::check_index(const RecordView& record, const LoadView& load) {
  const std::uint64_t at = record.offset + 48;
  if (load.index == 0 || load.index >= kIndexLimit)
    return add(at, Rule::kLoadIndex, words(load.index) + " is 0 or does not fit 32 bits");
  const bool is_new = by_index_.insert_or_assign(load.index, Code{load.address, load.code_size}).second;
  const bool is_of_twin = twin_ && twin_->load.index == load.index;
  if (!is_new && !is_of_twin) add(at, Rule::kLoadIndex, words(load.index) + " was used before");
}

void Checker::check_equal_code(const Function& function) {
  if (!code_hashes_.insert(hash_of(function.load.code)).second)
    add(function.record.offset, Rule::kEqualCode, "the same bytes as an earlier function");
}

// A function that is written twice: behind a twin that has its tables, and where it really is.
bool Checker::is_partner_of_twin(const Function& function) const {
  const LoadView& a = twin_->load;
  const LoadView& b = function.load;
  if (!function.tables || a.index != b.index || a.name != b.name) return false;
  return b.address == a.address + twin_->tables->twin_distance && twin_->tables->mapped != 0 &&
         function.tables->mapped == 0 && std::ranges::equal(a.code, b.code) &&
         std::ranges::equal(twin_->tables->blob, function.tables->blob);
}

void Checker::check_twin(Function function) {
  if (!twin_ && function.tables && function.tables->twin_distance != 0) {
    twin_ = std::move(function);
    --result_.functions;
    return;
  }
  if (twin_ && !is_partner_of_twin(function))
    add(twin_->record.offset, Rule::kLoadTwin, "the next load is not the function that this twin belongs to");
  twin_.reset();
  check_equal_code(function);
}

// | prefix | pid | tid | vma | old_code_addr | new_code_addr | code_size | code_index |
void Checker::check_move(const RecordView& record) {
  const std::uint64_t at = record.offset;
  if (record.size != kMoveBytes) return add(at + 4, Rule::kMoveSize, words(record.size) + ", must be 64");
  add(at, Rule::kMoveRecord,
      tables_ ? "its tables stay with perf for the next load"
              : "a load at the new place is understood by all");
  tables_.reset();
  const MoveView move = move_view(record);
  if (move.pid != walk_.header().pid)
    add(at + 16, Rule::kLoadPid, words(move.pid) + ", the header has " + words(walk_.header().pid));
  const auto known = by_index_.find(move.index);
  if (known == by_index_.end()) return add(at + 56, Rule::kMoveIndex, words(move.index));
  if (move.vma != move.to) add(at + 24, Rule::kLoadVma, hex_words(move.vma) + " is not new_code_addr");
  if (move.size != known->second.size)
    add(at + 48, Rule::kMoveCode, words(move.size) + " bytes, its load has " + words(known->second.size));
  if (move.from != known->second.address)
    add(at + 32, Rule::kMoveCode, hex_words(move.from) + ", it lies at " + hex_words(known->second.address));
  known->second.address = move.to;
}

void Checker::check_lines_record(const RecordView& record) {
  if (lines_) add(lines_->offset, Rule::kGroupTwice, "other lines follow before a load");
  lines_.reset();
  if (check_row_count(record, result_.findings)) lines_ = record;
}

void Checker::check_tables_record(const RecordView& record) {
  if (tables_) add(tables_->offset, Rule::kGroupTwice, "other tables follow before a load");
  tables_ = read_tables(record, result_.findings);
}

void Checker::check_close(const RecordView& record) {
  check_nothing_waits("the file is closed");
  if (record.size != kPrefixBytes)
    add(record.offset + 4, Rule::kCloseSize, words(record.size) + ", must be 16");
  if (record.when < latest_load_) add(record.offset + 8, Rule::kRecordTime, "lies before the last load");
  result_.is_closed = true;
}

void Checker::check_nothing_waits(const char* when) {
  if (lines_) add(lines_->offset, Rule::kGroupOrphan, std::string("lines without a load when ") + when);
  if (tables_) add(tables_->offset, Rule::kGroupOrphan, std::string("tables without a load when ") + when);
  if (twin_) add(twin_->record.offset, Rule::kLoadTwin, std::string("no function of its own when ") + when);
  lines_.reset();
  tables_.reset();
  twin_.reset();
}

}  // namespace

CheckResult check(std::span<const std::uint8_t> file, const Expected& expected) {
  return Checker(file, expected).run();
}

std::optional<std::uint32_t> pid_of_dump(std::string_view base_name) noexcept {
  constexpr std::string_view kStart = "jit-";
  constexpr std::string_view kEnd = ".dump";
  if (!base_name.starts_with(kStart) || !base_name.ends_with(kEnd)) return std::nullopt;
  const char* const digits = base_name.data() + kStart.size();
  const char* const end = base_name.data() + base_name.size() - kEnd.size();
  std::int32_t pid = 0;
  if (digits >= end || *digits < '1' || *digits > '9') return std::nullopt;
  const auto read = std::from_chars(digits, end, pid);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return static_cast<std::uint32_t>(pid);
}

}  // namespace jitquill::jitdump
