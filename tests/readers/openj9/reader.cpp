#include "tests/readers/openj9/reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "tests/readers/openj9/header.hpp"

namespace openj9_reader {
namespace {

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/openj9/rules.def"
#undef RULE
};

constexpr std::uint64_t kRecordHead = 64;

class FileReader {
 public:
  FileReader(File& file, std::string_view bytes)
      : file_(file), bytes_(bytes), report_([this](std::uint64_t at, Rule rule, std::string reason) {
          file_.violations.push_back({at, rule, std::move(reason)});
        }) {}

  void read() {
    if (!read_header(bytes_, file_.header, report_)) return;
    if ((bytes_.size() - file_.header.size) % file_.header.record_size != 0)
      report_(bytes_.size(), Rule::kFileSize, "not a whole number of records");
    const Source source(bytes_, file_.header.is_big);
    for (std::uint64_t at = file_.header.size; source.has(at, file_.header.record_size);
         at += file_.header.record_size)
      take_record(source, at);
    become_external();
    for (Record& record : file_.records) {
      auto& entries = threads_[place_.at(record.thread)];
      const std::size_t before = entries.size();
      read_entries(source, file_.header, record, entries, report_);
      if (before != 0 && before < entries.size() && entries[before].ticks < entries[before - 1].ticks)
        report_(record.at, Rule::kTime, "earlier than the thread's record before");
    }
    file_.entries = merged(std::move(threads_));
    check_scale();
  }

 private:
  void take_record(const Source& source, std::uint64_t at) {
    Record record{at,
                  source.u64(at),
                  source.u64(at + 8),
                  source.u64(at + 16),
                  source.u64(at + 24),
                  source.u64(at + 32),
                  {},
                  source.u32(at + 56),
                  source.u32(at + 60)};
    if (record.first_entry <= kRecordHead || record.first_entry > record.last_entry ||
        record.last_entry >= file_.header.record_size) {
      report_(
          at, Rule::kRecord,
          record.last_entry == ~0u ? "filled by the middle of an entry" : "its entries are outside of it");
      return;
    }
    const std::string_view name = source.text(at + kRecordHead, record.first_entry - kRecordHead);
    record.thread_name = name.substr(0, name.find('\0'));
    if (name.find('\0') == name.npos)
      report_(at + kRecordHead, Rule::kRecord, "the thread's name has no end");
    if (record.thread >> 63 != 0 || (file_.header.pointer_size == 4 && record.thread >> 32 != 0))
      report_(at + 32, Rule::kThreadId, "too large");
    if (record.thread == 0 && record.thread_name != "Exception trace pseudo-thread")
      report_(at + 32, Rule::kThreadId, "0 is the exception buffer");
    if (place_.emplace(record.thread, threads_.size()).second) threads_.emplace_back();
    file_.records.push_back(std::move(record));
  }
  // Two records of a thread, and the formatter takes all for streams.
  void become_external() {
    if (!file_.header.is_internal || place_.size() == file_.records.size()) return;
    report_(file_.header.size, Rule::kRecord, "a thread has two rings");
    file_.header.is_internal = false;
  }
  void check_scale() {
    const Header& header = file_.header;
    if (file_.records.empty()) return;
    const std::uint64_t scale = file_.ticks_per_ms();
    if (scale == 0) report_(header.size, Rule::kScale, "no tick in a millisecond");
    for (const Record& record : file_.records) {
      const std::uint64_t ms = record.written_ms - header.start_ms;
      if (record.written_ms <= header.start_ms)
        report_(record.at + 24, Rule::kScale, "written when the trace began, or before");
      if (record.written_ticks != header.start_ticks + ms * scale)
        report_(record.at + 16, Rule::kScale, "not the other records' ticks per millisecond");
      if (record.written_ticks < record.newest_ticks && !header.is_internal)
        report_(record.at + 16, Rule::kTime, "written before its newest entry");
    }
  }

  File& file_;
  std::string_view bytes_;
  Report report_;
  std::map<std::uint64_t, std::size_t> place_;
  std::vector<std::vector<Entry>> threads_;
};

}  // namespace

// The first of the list is printed next. A thread whose next entry is later than the second's moves back, in
// front of those that are not earlier.
std::vector<Entry> merged(std::vector<std::vector<Entry>> threads) {
  struct Place {
    std::vector<Entry>* entries;
    std::size_t next = 0;
    bool is_at_end() const { return next == entries->size(); }
    std::uint64_t ticks() const { return is_at_end() ? ~std::uint64_t{0} : (*entries)[next].ticks; }
  };
  std::vector<Place> list;
  std::size_t size = 0;
  for (auto& entries : threads) {
    list.push_back({&entries});
    size += entries.size();
  }
  std::ranges::stable_sort(list, {}, &Place::ticks);
  std::vector<Entry> all;
  all.reserve(size);
  while (all.size() != size) {
    all.push_back(std::move((*list.front().entries)[list.front().next++]));
    const Place moved = list.front();
    const auto behind = std::find_if(list.begin() + 1, list.end(),
                                     [&](const Place& other) { return moved.ticks() <= other.ticks(); });
    std::rotate(list.begin(), list.begin() + 1, behind);
  }
  return all;
}

std::uint64_t File::ticks_per_ms() const {
  std::uint64_t ticks = 0, ms = 0;
  for (const Record& record : records) {
    ticks = std::max(ticks, record.written_ticks);
    ms = std::max(ms, record.written_ms);
  }
  if (records.empty()) return 1000;  // which the tool begins with
  return ms == header.start_ms ? ticks - header.start_ticks
                               : (ticks - header.start_ticks) / (ms - header.start_ms);
}

std::vector<Entry> File::of(std::uint64_t thread) const {
  std::vector<Entry> own;
  std::ranges::copy_if(entries, std::back_inserter(own),
                       [&](const Entry& entry) { return entry.thread == thread; });
  return own;
}

const char* name(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].name;
}

std::string describe(const std::vector<Violation>& violations) {
  std::string text;
  for (const auto& [at, rule, reason] : violations)
    text += std::to_string(at) + ": " + name(rule) + ": " + reason + " (" +
            kTexts[static_cast<std::size_t>(rule)].consequence + ")\n";
  return text;
}

File read(std::string_view bytes) {
  File file;
  FileReader(file, bytes).read();
  return file;
}

File read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (stream) return read(std::string(std::istreambuf_iterator<char>(stream), {}));
  File file;
  file.violations.push_back({0, Rule::kFileRead, path});
  return file;
}

}  // namespace openj9_reader
