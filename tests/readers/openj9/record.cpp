#include <algorithm>
#include <iterator>
#include <optional>

#include "tests/readers/openj9/header.hpp"

namespace openj9_reader {
namespace {

constexpr std::string_view kInternal = "INTERNALTRACECOMPONENT";  // printed as dg, with numbers of its own

// Bytes of an entry with what stands behind it, and where its last one lies.
struct Span {
  std::uint64_t begin;   // of the body
  std::uint64_t end;     // behind the body
  std::uint64_t before;  // the length byte of the entry before
};

class RecordReader {
 public:
  RecordReader(const Source& file, const Header& header, Record& record, std::vector<Entry>& entries,
               const Report& report)
      : file_(file), header_(header), record_(record), entries_(entries), report_(report) {}

  void read() {
    unroll();
    std::vector<Span> spans;
    for (auto span = step_back(last_); span; span = step_back(span->before)) spans.push_back(*span);
    check_walk(spans);
    take(spans);
  }

 private:
  void fault(Rule rule, std::string reason, std::uint64_t at = 0) const {
    report_(record_.at + at, rule, std::move(reason));
  }
  // In order of time: a ring's oldest bytes are those behind its newest entry.
  void unroll() {
    data_ = std::string(file_.text(record_.at, header_.record_size));
    last_ = record_.last_entry;
    if (header_.is_internal) {
      std::rotate(data_.begin() + record_.first_entry, data_.begin() + static_cast<std::ptrdiff_t>(last_) + 1,
                  data_.end());
      last_ = data_.size() - 1;
      return;
    }
    if (data_.find_first_not_of('\0', last_ + 1) != data_.npos)
      fault(Rule::kTail, "something follows the newest entry", last_ + 1);
  }
  std::uint8_t byte(std::uint64_t at) const { return static_cast<std::uint8_t>(data_[at]); }
  // The entry whose length byte is at `at`; nothing: the walk is over.
  std::optional<Span> step_back(std::uint64_t at) {
    std::uint64_t length = byte(at), end = at;
    if (length == 0) {
      stopped_at_ = at;
      return {};
    }
    if (length == 4 && at >= record_.first_entry + 4u) {  // of the entry before: the low byte of its length
      if (byte(at - 3) != 0 || byte(at - 2) != 0) fault(Rule::kEntry, "a long entry's length is torn", at);
      end = at - 4;
      length = std::uint64_t{byte(at - 1)} << 8 | byte(end);
    }
    if (length > end || end - length < record_.first_entry) {
      stopped_at_ = record_.first_entry;
      // In a ring it is what is left of an entry that was overwritten.
      if (!header_.is_internal) fault(Rule::kCut, "an entry begins in front of the record", at);
      return {};
    }
    return Span{end - length + 1, end, end - length};
  }
  void check_walk(const std::vector<Span>& spans) {
    if (spans.empty()) fault(Rule::kEmpty, "a record without an entry");
    if (!header_.is_internal && stopped_at_ != record_.first_entry)
      fault(Rule::kEntry, "entries do not reach back to the record's first byte", stopped_at_);
  }

  Source source() const { return {data_, header_.is_big}; }
  static bool is_special(const Span& span) { return span.end + 1 - span.begin == 8; }
  static bool is_wrap(const Source& data, const Span& span) {
    return is_special(span) && data.text(span.begin, 3) == std::string_view("\0\0\0", 3);
  }
  static bool is_lost(const Source& data, const Span& span) {
    return is_special(span) && data.text(span.begin, 3) == std::string_view("\0\1\0", 3);
  }

  // Newest first, since each clock wrap tells what was in front of it.
  void take(const std::vector<Span>& spans) {
    const Source data = source();
    std::vector<Entry> newest_first;
    std::uint64_t upper = record_.newest_ticks >> 32;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const bool is_oldest = i + 1 == spans.size();
      if (is_wrap(data, spans[i])) {
        upper = take_wrap(data, spans[i], is_oldest, i == 0, upper);
      } else if (is_lost(data, spans[i])) {
        take_lost(data, spans[i], is_oldest, newest_first.empty());
      } else if (auto entry = take_entry(data, spans[i])) {
        entry->ticks |= upper << 32;
        newest_first.push_back(std::move(*entry));
      }
    }
    check_times(newest_first, upper);
    record_.entries = newest_first.size();
    entries_.insert(entries_.end(), std::make_move_iterator(newest_first.rbegin()),
                    std::make_move_iterator(newest_first.rend()));
  }
  // In a ring what was in front of it may be overwritten, and a killed process may have put nothing behind
  // it.
  std::uint64_t take_wrap(const Source& data, const Span& span, bool is_oldest, bool is_newest,
                          std::uint64_t upper) const {
    const std::uint64_t older = data.u32(span.begin + 3);
    if (is_oldest && !header_.is_internal)
      fault(Rule::kWrap, "a clock wrap that nothing is in front of", span.begin);
    if (older == upper && !(is_newest && header_.is_internal))
      fault(Rule::kWrap, "a clock wrap without a wrap", span.begin);
    return older;
  }
  void take_lost(const Source& data, const Span& span, bool is_oldest, bool is_last) {
    record_.lost = data.u32(span.begin + 3);
    if (!is_oldest) fault(Rule::kLost, "a loss that is not the record's first entry", span.begin);
    if (is_last) fault(Rule::kLost, "a loss with nothing behind it", span.begin);
    if (record_.lost == 0) fault(Rule::kLost, "a loss of nothing", span.begin);
  }
  std::optional<Entry> take_entry(const Source& data, const Span& span) const {
    const std::uint64_t size = span.end - span.begin;
    const std::uint64_t name_size = data.u32(span.begin + 7);
    if (size < 12 || name_size == 0 || name_size > size - 11) {
      fault(Rule::kEntry,
            "an entry of " + std::to_string(size + 1) + " bytes with a name of " + std::to_string(name_size),
            span.begin);
      return {};
    }
    Entry entry{record_.at + span.begin, data.u32(span.begin + 3), record_.thread, {}, {}};
    entry.component = data.text(span.begin + 11, name_size);
    // Numbers have 14 bits.
    entry.number = static_cast<int>(Source(data_, true).number(span.begin, 3) & 0x3FFF);
    entry.component == kInternal ? void(entry.component = "dg") : void(entry.number -= 257);
    if (entry.number < 0) fault(Rule::kEntry, "a number that is none of a component", span.begin);
    if (const std::size_t bracket = entry.component.find('('); bracket != std::string::npos) {
      entry.container = entry.component.substr(bracket + 1, entry.component.find(')') - bracket - 1);
      entry.component.resize(bracket);
    }
    entry.parameters = data.text(span.begin + 11 + name_size, size - 11 - name_size);
    return entry;
  }
  void check_times(const std::vector<Entry>& newest_first, std::uint64_t oldest_upper) const {
    if (newest_first.empty()) return;
    // A ring's entries may be behind what it says, by the one that a killed process was putting.
    if (!header_.is_internal && newest_first.front().ticks != record_.newest_ticks)
      fault(Rule::kWrap, "the record says another time than its newest entry");
    if (!header_.is_internal && oldest_upper != record_.first_ticks >> 32)
      fault(Rule::kWrap, "the upper clock word in front of the oldest entry is not the record's");
    // Of a ring that many threads put into, as they came.
    const bool is_in_order = !header_.is_internal || record_.thread != 0;
    for (std::size_t i = 0; i < newest_first.size(); ++i) {
      if (i != 0 && is_in_order && newest_first[i].ticks > newest_first[i - 1].ticks)
        report_(newest_first[i - 1].at, Rule::kTime, "earlier than the entry before");
      if (newest_first[i].ticks < header_.start_ticks)
        report_(newest_first[i].at, Rule::kTime, "earlier than the trace");
    }
  }

  const Source& file_;
  const Header& header_;
  Record& record_;
  std::vector<Entry>& entries_;
  const Report& report_;
  std::string data_;
  std::uint64_t last_ = 0;
  std::uint64_t stopped_at_ = 0;
};

}  // namespace

void read_entries(const Source& file, const Header& header, Record& record, std::vector<Entry>& entries,
                  const Report& report) {
  RecordReader(file, header, record, entries, report).read();
}

}  // namespace openj9_reader
