#include "tests/readers/eventlog/reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "tests/readers/eventlog/thread_order.hpp"

namespace eventlog_reader {
namespace {

struct Known {
  std::uint16_t number;
  const char* name;
  std::string_view fields;
};

constexpr Known kKnown[] = {
#define TYPE(number, name, fields) {number, name, fields},
#include "tests/readers/eventlog/types.def"
#undef TYPE
};

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/eventlog/rules.def"
#undef RULE
};

constexpr std::uint16_t kBlockMarker = 18, kEndOfData = 0xFFFF, kVariable = 0xFFFF;
constexpr std::uint64_t kMarkerSize = 24;

bool is_fixed(std::string_view fields) {
  return fields.find_first_not_of("1248") == fields.npos;
}

std::uint64_t size_of(std::string_view fields) {
  std::uint64_t size = 0;
  for (const char field : fields) size += static_cast<std::uint64_t>(field - '0');
  return size;
}

bool has_size(const Known& row, std::uint16_t size) {
  return is_fixed(row.fields) ? size == size_of(row.fields) : size == kVariable;
}

// The layout of that size; of none of its sizes the newest one; null: nobody knows the number.
const Known* known(std::uint16_t number, std::uint16_t size) {
  const Known* newest = nullptr;
  for (const Known& row : kKnown) {
    if (row.number != number) continue;
    if (has_size(row, size)) return &row;
    if (newest == nullptr) newest = &row;
  }
  return newest;
}

// By the rules for bytes, not by a table of ranges.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const unsigned more = first < 0x80       ? 0
                          : first >> 5 == 6  ? 1
                          : first >> 4 == 14 ? 2
                          : first >> 3 == 30 ? 3
                                             : 9;
    if (more == 9 || text.size() - i <= more) return false;
    std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    for (unsigned k = 1; k <= more; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      if (byte >> 6 != 2) return false;
      code = code << 6 | (byte & 0x3F);
    }
    constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code < kLeast[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
    i += more + 1;
  }
  return true;
}

class FileReader {
 public:
  FileReader(File& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  void read() {
    if (!read_header()) return;
    file_.header_size = at_;
    while (at_ < bytes_.size() && read_record()) {
    }
    if (!file_.has_end) report(Rule::kEnd, "no end of data");
    if (block_end_ > bytes_.size()) report(Rule::kBlock, "goes on behind the end of the file");
    for (const auto& [at, reason] : thread_order_.faults())
      file_.violations.push_back({at, Rule::kThreadOrder, reason});
  }

 private:
  void report(Rule rule, const std::string& reason) { file_.violations.push_back({at_, rule, reason}); }

  bool has(std::uint64_t size) const { return bytes_.size() - at_ >= size; }
  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (; size > 0; --size) value = value << 8 | static_cast<unsigned char>(bytes_[at_++]);
    return value;
  }
  std::string_view take(std::uint64_t size) {
    const std::string_view taken = bytes_.substr(at_, size);
    at_ += taken.size();
    return taken;
  }
  bool take_word(std::string_view word) {
    if (bytes_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool read_header() {
    if (!take_word("hdrb") || !take_word("hetb")) return report(Rule::kHeader, "does not begin"), false;
    while (take_word(std::string_view("etb\0", 4))) {
      if (!read_declaration()) return report(Rule::kHeader, "a declaration is torn"), false;
    }
    if (!take_word("hete") || !take_word("hdre") || !take_word("datb"))
      return report(Rule::kHeader, "does not end"), false;
    if (file_.types.contains(58) && !file_.types.contains(59)) report(Rule::kStopCodes, "59 is not declared");
    if (!file_.types.contains(kBlockMarker)) report(Rule::kDeclaration, "no block marker");
    return true;
  }

  bool read_declaration() {
    if (!has(8)) return false;
    Type type{};
    type.number = static_cast<std::uint16_t>(number(2));
    type.size = static_cast<std::uint16_t>(number(2));
    for (std::string* const text : {&type.description, &type.extra}) {
      if (!has(4)) return false;
      const std::uint64_t size = number(4);
      if (!has(size)) return false;
      *text = take(size);
    }
    if (!take_word(std::string_view("ete\0", 4))) return false;
    if (!is_utf8(type.description)) report(Rule::kUtf8, "description of " + std::to_string(type.number));
    if (type.number == kEndOfData) report(Rule::kDeclaration, "the end of data");
    check_size(type);
    if (!file_.types.emplace(type.number, type).second) report(Rule::kTwice, std::to_string(type.number));
    return true;
  }

  void check_size(const Type& type) {
    const Known* const row = known(type.number, type.size);
    if (row != nullptr && !has_size(*row, type.size))
      report(Rule::kDeclaration, std::string(row->name) + " has " + std::to_string(type.size) + " bytes");
  }

  // False: nobody can read on.
  bool read_record() {
    const std::uint64_t start = at_;
    leave_block();
    if (!has(2)) return report(Rule::kTorn, "one byte"), false;
    Event event{};
    event.number = static_cast<std::uint16_t>(number(2));
    if (event.number == kEndOfData) return end_of_data();
    if (file_.has_end) report(Rule::kEnd, "a record behind it");
    const auto type = file_.types.find(event.number);
    if (type == file_.types.end()) return report(Rule::kUndeclared, std::to_string(event.number)), false;
    const bool is_variable = type->second.size == kVariable;
    if (!has(is_variable ? 10 : 8)) return report(Rule::kTorn, "the head of a record"), false;
    event.when_ns = number(8);
    const std::uint64_t size = is_variable ? number(2) : type->second.size;
    if (!has(size)) return report(Rule::kTorn, "the payload of a record"), false;
    event.capability = capability_;
    read_payload(event, type->second.size, take(size));
    take_event(std::move(event), start);
    return true;
  }

  bool end_of_data() {
    if (file_.has_end) report(Rule::kEnd, "twice");
    file_.has_end = true;
    return true;
  }

  void leave_block() {
    if (block_end_ == 0 || at_ < block_end_) return;
    if (at_ != block_end_) report(Rule::kBlock, "ends inside a record");
    capability_ = kNoCapability;
    block_end_ = 0;
  }

  void take_event(Event event, std::uint64_t start) {
    if (event.number == kBlockMarker) {
      begin_block(event, start);
    } else {
      if (block_end_ != 0 && event.when_ns < last_ns_) ++file_.backward_steps;
      last_ns_ = event.when_ns;
      check_place(event);
      thread_order_.take(start, event);
    }
    file_.events.push_back(std::move(event));
  }

  void begin_block(Event& event, std::uint64_t start) {
    if (event.numbers.size() != 3) return;
    if (block_end_ != 0 && start < block_end_) report(Rule::kBlock, "begins inside another");
    if (event.numbers[0] < kMarkerSize) report(Rule::kBlock, "size " + std::to_string(event.numbers[0]));
    if (event.numbers[1] < event.when_ns) report(Rule::kBlock, "ends before it begins");
    block_end_ = start + event.numbers[0];
    event.capability = capability_ = static_cast<std::uint16_t>(event.numbers[2]);
    last_ns_ = 0;
  }

  void check_place(const Event& event) {
    static const std::set<std::uint16_t> in_a_block = {0, 1, 2, 9, 10, 34, 49, 53, 54};
    if (capability_ == kNoCapability && in_a_block.contains(event.number))
      report(Rule::kCapability, event.name);
    static const std::set<std::uint64_t> safe = {1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 20};
    if (event.number == 2 && event.numbers.size() == 3 && !safe.contains(event.numbers[1]))
      report(Rule::kStopStatus, std::to_string(event.numbers[1]));
  }

  // Of variable layouts of one event the first that takes all of it, as newer readers do.
  const Known* known_of(const Event& event, std::uint16_t declared, std::string_view payload) {
    for (const Known& row : kKnown) {
      if (row.number != event.number || declared != kVariable || !has_size(row, declared)) continue;
      if (std::ranges::count(kKnown, row.number, &Known::number) == 1) return &row;
      File aside;
      FileReader trial(aside, {});
      Event copy{};
      std::string_view rest = payload;
      bool fits = true;
      for (std::size_t i = 0; fits && i < row.fields.size(); ++i)
        fits = trial.read_field(row.fields, i, copy, rest);
      if (fits && rest.empty()) return &row;
    }
    return known(event.number, declared);
  }

  void read_payload(Event& event, std::uint16_t declared, std::string_view payload) {
    const Known* const row = known_of(event, declared, payload);
    if (row == nullptr) {
      event.texts.emplace_back(payload);
      return;
    }
    event.name = row->name;
    std::string_view rest = payload;
    for (std::size_t i = 0; i < row->fields.size(); ++i) {
      if (!read_field(row->fields, i, event, rest))
        return report(Rule::kPayload, event.name + " is too short");
    }
    if (!rest.empty()) report(Rule::kPayload, event.name + " is too long");
  }

  static std::uint64_t big(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  void take_text(Event& event, std::string_view text) {
    if (!is_utf8(text)) report(Rule::kUtf8, event.name);
    event.texts.emplace_back(text);
  }

  bool read_field(std::string_view fields, std::size_t place, Event& event, std::string_view& rest) {
    const char field = fields[place];
    if (field >= '1' && field <= '8') return read_number(static_cast<std::size_t>(field - '0'), event, rest);
    if (field == 'l') return read_list(event, rest);
    // Of what is behind it all has a fixed size.
    const std::uint64_t behind = field == 'z' ? 0 : size_of(fields.substr(place + 1));
    if (rest.size() < behind) return false;
    std::size_t end = field == 'z' ? rest.find('\0') : rest.size() - behind;
    if (end == rest.npos) return false;
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(end + (field == 'z' ? 1 : 0));
    if (field == 'b') return event.texts.emplace_back(text), true;
    if (field != 'v') return take_text(event, text), true;
    for (std::size_t at = 0; at < text.size(); at = end + 1) {
      end = std::min(text.find('\0', at), text.size());
      take_text(event, text.substr(at, end - at));
    }
    return true;
  }

  static bool read_number(std::size_t size, Event& event, std::string_view& rest) {
    if (rest.size() < size) return false;
    event.numbers.push_back(big(rest.substr(0, size)));
    rest.remove_prefix(size);
    return true;
  }

  static bool read_list(Event& event, std::string_view& rest) {
    if (!read_number(1, event, rest)) return false;
    for (std::uint64_t i = event.numbers.back(); i > 0; --i) {
      if (!read_number(4, event, rest)) return false;
    }
    return true;
  }

  File& file_;
  std::string_view bytes_;
  std::uint64_t at_ = 0;
  std::uint16_t capability_ = kNoCapability;
  std::uint64_t block_end_ = 0;  // 0: outside of any
  std::uint64_t last_ns_ = 0;
  ThreadOrder thread_order_;
};

}  // namespace

const char* name(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].name;
}

std::string describe(const std::vector<Violation>& violations) {
  constexpr std::size_t kShown = 20;
  std::ostringstream all;
  for (std::size_t i = 0; i < violations.size() && i < kShown; ++i) {
    const RuleText& text = kTexts[static_cast<std::size_t>(violations[i].rule)];
    all << "byte " << violations[i].at << ": " << text.name << ": " << violations[i].reason << " ("
        << text.consequence << ")\n";
  }
  if (violations.size() > kShown) all << violations.size() - kShown << " more\n";
  return all.str();
}

std::vector<Event> File::named(std::string_view name) const {
  std::vector<Event> found;
  for (const Event& event : events) {
    if (event.name == name) found.push_back(event);
  }
  return found;
}

File read(std::string_view bytes) {
  File file;
  FileReader(file, bytes).read();
  return file;
}

File read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (in.is_open()) return read(std::string(std::istreambuf_iterator<char>(in), {}));
  File file;
  file.violations.push_back({0, Rule::kFileRead, path + " cannot be opened"});
  return file;
}

}  // namespace eventlog_reader
