#include "tests/readers/calls/reader.hpp"

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace calls_reader {
namespace {

constexpr std::size_t kMostIndented = 60;

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/calls/rules.def"
#undef RULE
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<std::uint64_t> number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || rest != text.data() + text.size()) return {};
  return value;
}

// "12.000000500" with `digits` behind the point, in units of the last.
std::optional<std::uint64_t> fraction(std::string_view text, std::size_t digits) {
  const std::size_t point = text.find('.');
  if (point == text.npos || text.size() - point - 1 != digits) return {};
  const auto whole = number(text.substr(0, point));
  const auto rest = number(text.substr(point + 1));
  if (!whole || !rest) return {};
  std::uint64_t unit = 1;
  for (std::size_t i = 0; i < digits; ++i) unit *= 10;
  return *whole * unit + *rest;
}

bool take_end(std::string_view& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.remove_suffix(ending.size());
  return true;
}

// A comment at the end of a call, "" if there is none.
std::string take_comment(std::string_view& text) {
  if (!text.ends_with(" */")) return {};
  const std::size_t start = text.rfind(" /* ");
  if (start == text.npos) return {};
  const std::string comment(text.substr(start + 4, text.size() - start - 7));
  text = text.substr(0, start);
  return comment;
}

struct Columns {
  std::uint64_t time_ns;
  std::string thread;
  std::optional<std::uint64_t> duration_ns;
  std::string_view call;  // with its indentation
};

class FileReader {
 public:
  explicit FileReader(File& file) : file_(file) {}

  void read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = text.find('\n');
      if (end == text.npos) return report(Rule::kLineTorn, std::string(text));
      read_line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    if (!file_.has_end) report(Rule::kEnd, "no last line");
    for (const auto& [name, open] : open_) {
      if (!open.empty()) report(Rule::kBalance, name + " has " + std::to_string(open.size()) + " open calls");
    }
  }

 private:
  void report(Rule rule, const std::string& reason) { file_.violations.push_back({line_, rule, reason}); }

  void read_line(std::string_view line) {
    if (line_ == 1 && !line.starts_with("# jitquill calls 1, process "))
      report(Rule::kHead, std::string(line));
    if (file_.has_end) report(Rule::kEnd, "a line behind the last");
    if (line.starts_with('#')) {
      file_.has_end = line.starts_with("# ended at ");
      return;
    }
    const auto columns = split(line);
    if (!columns) return report(Rule::kColumns, std::string(line));
    Thread& thread = file_.threads[columns->thread];
    if (columns->time_ns < last_ns_[columns->thread] && !is_comment(columns->call))
      report(Rule::kTime, "goes back");
    read_call(*columns, thread);
  }

  static bool is_comment(std::string_view call) { return trimmed(call).starts_with("/*"); }

  static std::optional<Columns> split(std::string_view line) {
    std::string_view parts[3];
    for (std::string_view& part : parts) {
      const std::size_t bar = line.find(" | ");
      if (bar == line.npos) return {};
      part = trimmed(line.substr(0, bar));
      line.remove_prefix(bar + 3);
    }
    const auto time = fraction(parts[0], 9);
    if (!time || parts[1].empty()) return {};
    const auto duration = fraction(parts[2], 3);
    if (!duration && !parts[2].empty()) return {};
    return Columns{*time, std::string(parts[1]), duration, line};
  }

  void read_call(const Columns& columns, Thread& thread) {
    std::string_view call = columns.call;
    if (trimmed(call).starts_with("=> ")) return read_caller(trimmed(call).substr(3), columns, thread);
    const std::size_t indent = std::min(call.find_first_not_of(' '), call.size());
    std::uint64_t depth = indent / 2;
    if (indent % 2 != 0) report(Rule::kDepth, "an odd indentation");
    call.remove_prefix(indent);
    if (call.starts_with("(+")) {
      const std::size_t close = call.find(") ");
      const auto more = close == call.npos ? std::nullopt : number(call.substr(2, close - 2));
      if (!more || depth != kMostIndented) return report(Rule::kDepth, std::string(call));
      depth += *more;
      call.remove_prefix(close + 2);
    }
    if (is_comment(call)) return read_comment(columns, depth, call, thread);
    last_ns_[columns.thread] = std::max(last_ns_[columns.thread], columns.time_ns);
    if (call.starts_with('}')) return close_call(columns, depth, call.substr(1), thread);
    open_call(columns, depth, call, thread);
  }

  // Behind the entry that it is of.
  void read_caller(std::string_view name, const Columns& columns, Thread& thread) {
    const auto& open = open_[columns.thread];
    if (open.empty() || open.back() + 1 != thread.calls.size())
      return report(Rule::kBalance, "a caller of no call");
    Call& call = thread.calls.back();
    if (call.is_stack_partial || columns.duration_ns) report(Rule::kColumns, std::string(name));
    call.is_stack_partial = name == "... /* frames may be missing */";
    if (!call.is_stack_partial) call.callers.emplace_back(name);
  }

  void read_comment(const Columns& columns, std::uint64_t depth, std::string_view words, Thread& thread) {
    if (columns.duration_ns) report(Rule::kDuration, "of a comment");
    if (words.size() < 6 || !take_end(words, " */")) return report(Rule::kColumns, std::string(words));
    words.remove_prefix(3);
    const std::size_t blank = words.find(" records lost between ");
    const auto lost = blank == words.npos ? std::nullopt : number(words.substr(0, blank));
    if (words == "thread begins") {
      ++thread.begins;
    } else if (words == "thread ends") {
      ++thread.ends;
    } else if (lost) {
      thread.lost += *lost;
    } else {
      if (depth != open_[columns.thread].size()) report(Rule::kDepth, "of an event");
      thread.events.push_back({std::string(words), depth, columns.time_ns});
    }
  }

  // How it ended, and its stack, which is the first of the comments.
  static void take_comments(std::string_view& text, std::string& how, unsigned& stack) {
    for (std::string comment = take_comment(text); !comment.empty(); comment = take_comment(text)) {
      if (comment.starts_with("stack ")) {
        stack = static_cast<unsigned>(number(std::string_view(comment).substr(6)).value_or(0));
      } else {
        how = comment;
      }
    }
  }

  // Place in `open` of the newest call on the stack; its size if there is none.
  static std::size_t newest_on(unsigned stack, const std::vector<std::size_t>& open, const Thread& thread) {
    std::size_t at = open.size();
    while (at != 0 && thread.calls[open[at - 1]].stack != stack) --at;
    return at == 0 ? open.size() : at - 1;
  }

  // `name() {`, or `name();`, which ends too.
  void open_call(const Columns& columns, std::uint64_t depth, std::string_view text, Thread& thread) {
    auto& open = open_[columns.thread];
    Call call{.name = {}, .caller = kNone, .depth = depth, .start_ns = columns.time_ns};
    take_comments(text, call.how, call.stack);
    const std::size_t around = newest_on(call.stack, open, thread);
    if (!open.empty()) call.caller = around == open.size() ? open.back() : open[around];
    if (depth != open.size()) report(Rule::kDepth, std::to_string(open.size()) + " are open");
    const bool is_leaf = take_end(text, ";");
    if (!is_leaf && !take_end(text, " {")) return report(Rule::kColumns, std::string(text));
    (void)take_end(text, "()");
    call.name = text;
    if (is_leaf != columns.duration_ns.has_value()) report(Rule::kDuration, "missing, or at an entry");
    if (is_leaf) {
      call.end_ns = call.start_ns + columns.duration_ns.value_or(0);
      call.has_ended = true;
      last_ns_[columns.thread] = call.end_ns;
    } else {
      if (!call.how.empty()) report(Rule::kHow, call.how);
      open.push_back(thread.calls.size());
    }
    thread.calls.push_back(std::move(call));
  }

  void close_call(const Columns& columns, std::uint64_t depth, std::string_view text, Thread& thread) {
    auto& open = open_[columns.thread];
    std::string how;
    unsigned stack = 0;
    take_comments(text, how, stack);
    const std::size_t at = newest_on(stack, open, thread);
    if (at == open.size()) return report(Rule::kBalance, "nothing is open on its stack");
    Call& call = thread.calls[open[at]];
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    call.end_ns = columns.time_ns;
    call.has_ended = true;
    call.how = how;
    if (!text.empty()) report(Rule::kHow, std::string(text));
    if (call.depth != depth) report(Rule::kDepth, "entered at " + std::to_string(call.depth));
    if (columns.duration_ns != call.end_ns - call.start_ns) report(Rule::kDuration, call.name);
  }

  File& file_;
  std::uint64_t line_ = 0;
  std::map<std::string, std::vector<std::size_t>> open_;  // by thread: indexes of calls
  std::map<std::string, std::uint64_t> last_ns_;
};

}  // namespace

const char* name(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].name;
}

std::string describe(const std::vector<Violation>& violations) {
  constexpr std::size_t kShown = 20;
  std::ostringstream all;
  for (std::size_t i = 0; i < violations.size() && i < kShown; ++i) {
    const Violation& violation = violations[i];
    const RuleText& text = kTexts[static_cast<std::size_t>(violation.rule)];
    all << "line " << violation.line << ": " << text.name << ": " << violation.reason << " ("
        << text.consequence << ")\n";
  }
  if (violations.size() > kShown) all << violations.size() - kShown << " more\n";
  return all.str();
}

std::uint64_t File::lost() const {
  std::uint64_t all = 0;
  for (const auto& [name, thread] : threads) all += thread.lost;
  return all;
}

std::map<std::string, std::uint64_t> File::calls_by_name() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [name, thread] : threads) {
    for (const Call& call : thread.calls) ++counts[call.name];
  }
  return counts;
}

File read(std::string_view text) {
  File file;
  FileReader(file).read(text);
  return file;
}

File read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (in.is_open()) return read(std::string(std::istreambuf_iterator<char>(in), {}));
  File file;
  file.violations.push_back({0, Rule::kFileRead, path + " cannot be opened"});
  return file;
}

}  // namespace calls_reader
