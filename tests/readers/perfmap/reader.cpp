#include "tests/readers/perfmap/reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace perfmap_reader {
namespace {

constexpr std::size_t kLeastName = 3;
constexpr std::size_t kMostName = 4096;
constexpr std::size_t kMostDigits = 16;

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/perfmap/rules.def"
#undef RULE
};

const RuleText& text_of(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)];
}

// One line, and what is wrong with it.
class LineReader {
 public:
  LineReader(std::string_view line, std::uint64_t offset, Map& map)
      : line_(line), offset_(offset), map_(map) {}

  void read() {
    Function function;
    if (!number(Rule::kStart, function.address) || !number(Rule::kSize, function.size)) return;
    function.name = line_.substr(at_);
    if (function.size == 0) report(Rule::kSize, "0");
    if (function.address == 0 || function.address + function.size < function.address)
      report(Rule::kRange, "starts at 0 or goes beyond the last address");
    check_name(function.name);
    map_.functions.push_back(std::move(function));
  }

 private:
  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }

  // Digits and the one blank behind them.
  bool number(Rule rule, std::uint64_t& value) {
    const std::size_t start = at_;
    for (; at_ < line_.size() && digit(line_[at_]) >= 0 && at_ - start < kMostDigits; ++at_)
      value = value * 16 + static_cast<std::uint64_t>(digit(line_[at_]));
    const std::size_t count = at_ - start;
    if (count == 0 || at_ == line_.size() || line_[at_] != ' ')
      return report(rule, "must be 1 to 16 of 0-9a-f and a blank");
    if (count > 1 && line_[start] == '0') report(rule, "leading zero");
    ++at_;
    return true;
  }

  void check_name(std::string_view name) {
    if (name.size() < kLeastName) report(Rule::kNameShort, std::to_string(name.size()) + " bytes");
    if (name.size() > kMostName) report(Rule::kNameLong, std::to_string(name.size()) + " bytes");
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    if (std::ranges::any_of(name, is_control)) report(Rule::kNameControl, std::string(name));
  }

  bool report(Rule rule, const std::string& reason) {
    map_.violations.push_back({offset_ + at_, rule, reason});
    return false;
  }

  std::string_view line_;
  std::uint64_t offset_;
  Map& map_;
  std::size_t at_ = 0;
};

}  // namespace

const char* name(Rule rule) {
  return text_of(rule).name;
}

std::string describe(const std::vector<Violation>& violations) {
  constexpr std::size_t kShown = 20;
  std::ostringstream all;
  for (std::size_t i = 0; i < violations.size() && i < kShown; ++i) {
    const Violation& violation = violations[i];
    all << "offset 0x" << std::hex << violation.offset << ": " << name(violation.rule) << ": "
        << violation.reason << " (" << text_of(violation.rule).consequence << ")\n";
  }
  if (violations.size() > kShown) all << std::dec << violations.size() - kShown << " more\n";
  return all.str();
}

Map read(std::string_view file, const Expectations& expectations) {
  Map map;
  std::size_t at = 0;
  while (at < file.size()) {
    const std::size_t end = file.find('\n', at);
    if (end == file.npos) {
      map.torn = true;
      if (!expectations.may_be_torn) map.violations.push_back({at, Rule::kLineTorn, "no newline at the end"});
      break;
    }
    LineReader(file.substr(at, end - at), at, map).read();
    at = end + 1;
  }
  return map;
}

Map read_file(const std::string& path, const Expectations& expectations) {
  static const std::regex kName("(.*/)?perf-[1-9][0-9]*\\.map");
  std::ifstream in(path, std::ios::binary);
  Map map;
  if (in.is_open()) {
    map = read(std::string(std::istreambuf_iterator<char>(in), {}), expectations);
  } else {
    map.violations.push_back({0, Rule::kFileRead, "cannot be opened"});
  }
  if (!std::regex_match(path, kName)) map.violations.push_back({0, Rule::kFileName, path});
  return map;
}

}  // namespace perfmap_reader
