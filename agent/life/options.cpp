#include "agent/life/options.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <new>
#include <span>
#include <system_error>

#include "agent/base/arch_clock.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/intake/intake.hpp"
#include "agent/life/dir_template.hpp"
#include "agent/sampler/event.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {
namespace {

// A setter answers null, or why the value does not do.
using Setter = const char* (*)(Options&, std::string_view);

const char* set_flag(bool& flag, std::string_view value) noexcept {
  if (value != "0" && value != "1") return "must be 0 or 1";
  flag = value == "1";
  return nullptr;
}

constexpr const char* kMustBeSize = "must be a number of bytes, or one with k, M or G behind it";

// Digits at its front. Where they end; null: there are none.
const char* read_digits(std::string_view value, std::uint64_t& number) noexcept {
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error != std::errc{} || rest == value.data() ? nullptr : rest;
}

bool read_number(std::string_view value, std::uint64_t& number) noexcept {
  return read_digits(value, number) == value.data() + value.size() && !value.empty();
}

// Digits, and k, M or G for powers of 1024.
bool read_size(std::string_view value, std::uint64_t& bytes) noexcept {
  constexpr std::string_view kUnits = "kMG";
  const char* const end = value.data() + value.size();
  const char* const rest = read_digits(value, bytes);
  if (rest == nullptr) return false;
  if (rest == end) return true;
  const std::size_t unit = kUnits.find(*rest);
  if (unit == kUnits.npos || rest + 1 != end) return false;
  const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
  if (bytes > ~std::uint64_t{0} >> shift) return false;
  bytes <<= shift;
  return true;
}

// Sets the bit of a table's row. Null, or why it has none.
template <class Row>
const char* add_row(std::span<const Row> rows, std::uint32_t& bits, std::string_view name,
                    bool (*is_built)(const Row&)) noexcept {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  if (row == rows.end()) return "unknown name; help=1 lists them";
  if (!is_built(*row)) return "this is not built yet";
  bits |= 1u << (row - rows.begin());
  return nullptr;
}

// A list of a table's names, or none.
template <class Row>
const char* set_rows(std::span<const Row> rows, std::uint32_t& to, std::string_view value,
                     bool (*is_built)(const Row&)) noexcept {
  std::uint32_t bits = 0;
  while (value != "none" && !value.empty()) {
    const std::string_view name = first(value, value.find(','));
    if (const char* problem = add_row(rows, bits, name, is_built); problem != nullptr) return problem;
    value = without_first(value, name.size() + 1);
  }
  to = bits;
  return nullptr;
}

bool is_built(const SinkRow& row) noexcept {
  return row.make != nullptr || row.make_run != nullptr;
}
bool is_built(const intake::Row& row) noexcept {
  return row.help != nullptr;
}

const char* set_formats(Options& options, std::string_view value) noexcept {
  return set_rows<SinkRow>(sink_rows(), options.formats, value, is_built);
}

const char* set_intakes(Options& options, std::string_view value) noexcept {
  if (value != "auto") return set_rows<intake::Row>(intake::rows(), options.intakes, value, is_built);
  options.intakes = 0;
  for (const intake::Row& row : intake::rows()) {
    if (is_built(row)) options.intakes |= 1u << (&row - intake::rows().data());
  }
  return nullptr;
}

const char* set_hooks(Options& options, std::string_view value) noexcept {
  return options.hooks.set(value);
}

const char* set_stack(Options& options, std::string_view value) noexcept {
  return options.stack.set(value);
}

const char* set_return_addresses(Options& options, std::string_view value) noexcept {
  if (value != "take" && value != "leave") return "must be take or leave";
  options.takes_return_addresses = value == "take";
  return nullptr;
}

const char* set_demangle(Options& options, std::string_view value) noexcept {
  if (value != "off" && value != "on") return "must be off or on";
  options.demangle = value == "on";
  return nullptr;
}

constexpr const char* kWordsOfPaths = "%p is the process, %t its start, %c the command, %% a percent sign";

// Of a name of sinks.def; 0: there is none.
std::uint32_t bit_of_format(std::string_view format) noexcept {
  const auto rows = sink_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const SinkRow& r) { return r.name == format; });
  return row == rows.end() ? 0 : 1u << (row - rows.begin());
}

const char* set_dir(Options& options, std::string_view value) noexcept {
  if (value.empty()) return "must not be empty";
  if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return "must not have control characters";
  if (!dir_template::is_good(value)) return kWordsOfPaths;
  options.dir_was_given = true;
  return options.dir.set(value) ? nullptr : "path too long";
}

// `names` in the enumeration's order.
template <class Choice, std::size_t kCount>
bool choose(Choice& choice, const std::string_view (&names)[kCount], std::string_view value) noexcept {
  const auto* name = std::find(std::begin(names), std::end(names), value);
  if (name == std::end(names)) return false;
  choice = static_cast<Choice>(name - names);
  return true;
}

const char* set_unwind(Options& options, std::string_view value) noexcept {
  return choose(options.unwind, {"off", "gap", "twin"}, value) ? nullptr : "must be twin, gap or off";
}

const char* set_perfmap_at(Options& options, std::string_view value) noexcept {
  return choose(options.perfmap_at, {"tmp", "dir", "both"}, value) ? nullptr : "must be tmp, dir or both";
}

const char* set_policy(Options& options, std::string_view value) noexcept {
  return choose(options.policy, {"lossless", "drop", "flight"}, value) ? nullptr
                                                                       : "must be lossless, drop or flight";
}

const char* set_log(Options& options, std::string_view value) noexcept {
  if (value == "none") value = {};
  if (value.find('/') != value.npos) return "must be a file name without /: it lies in the output folder";
  if (value.starts_with('.') || value.starts_with("jit-") || value.starts_with("perf-") || value == "stats")
    return "this name is taken by another file of the output folder, or hidden";
  return options.log.set(value) ? nullptr : "name too long";
}

const char* set_move(Options& options, std::string_view value) noexcept {
  if (value != "reload" && value != "record") return "must be reload or record";
  options.move_records = value == "record";
  return nullptr;
}

const char* set_own_dump(Options& options, std::string_view value) noexcept {
  if (value != "leave" && value != "take") return "must be leave or take";
  options.takes_own_dump = value == "take";
  return nullptr;
}

const char* set_children(Options& options, std::string_view value) noexcept {
  if (value != "same" && value != "off") return "must be same or off";
  options.records_children = value == "same";
  return nullptr;
}
const char* set_reannounce(Options& options, std::string_view value) noexcept {
  return set_flag(options.reannounce, value);
}

const char* set_max_bytes(Options& options, std::string_view value) noexcept {
  std::uint64_t bytes = 0;
  if (!read_size(value, bytes)) return kMustBeSize;
  if (bytes != 0 && bytes < kLeastMaxBytes) return "must be 0, for no limit, or at least 64k";
  options.max_bytes = bytes;
  return nullptr;
}

const char* set_generations(Options& options, std::string_view value) noexcept {
  std::uint64_t number = 0;
  constexpr std::uint64_t kMost = 1'000'000;
  if (!read_number(value, number) || number > kMost) return "must be a number up to 1000000";
  options.generations = static_cast<std::uint32_t>(number);
  return nullptr;
}

const char* set_memory(Options& options, std::string_view value) noexcept {
  std::uint64_t bytes = 0;
  if (!read_size(value, bytes)) return kMustBeSize;
  if (bytes < kLeastMemory || bytes > kMostMemory) return "must be 1100k to 64G";
  options.memory_bytes = bytes;
  return nullptr;
}

const char* set_inlining(Options& options, std::string_view value) noexcept {
  return set_flag(options.inlining, value);
}
const char* set_arch_clock(Options& options, std::string_view value) noexcept {
  if (const char* why = set_flag(options.arch_clock, value); why != nullptr || !options.arch_clock)
    return why;
  const char* why = arch_clock::trouble();
  if (why != nullptr) options.arch_clock = false;
  return why;
}
const char* set_eventlog_own(Options& options, std::string_view value) noexcept {
  return set_flag(options.run.eventlog_own, value);
}
const char* set_eventlog_level(Options& options, std::string_view value) noexcept {
  constexpr std::string_view kWords[] = {
#define EVENTLOG_LEVEL(id, word, readers) word,
#include "writer/eventlog/level.def"
#undef EVENTLOG_LEVEL
  };
  return choose(options.run.eventlog_level, kWords, value) ? nullptr : "no such GHC; help=1 lists them";
}
const char* set_eventlog_messages(Options& options, std::string_view value) noexcept {
  return set_flag(options.run.eventlog_messages, value);
}
const char* set_eventlog_profile(Options& options, std::string_view value) noexcept {
  bool ticky = false, samples = false;
  while (value != "none" && !value.empty()) {
    const std::string_view name = first(value, value.find(','));
    if (name != "ticky" && name != "samples") return "must be none, or a list of ticky and samples";
    (name == "ticky" ? ticky : samples) = true;
    value = without_first(value, name.size() + 1);
  }
  options.run.eventlog_ticky = ticky;
  options.run.eventlog_samples = samples;
  return nullptr;
}
const char* set_eventlog_interval(Options& options, std::string_view value) noexcept {
  constexpr std::uint64_t kNsPerMs = 1'000'000, kMost = 10'000;
  std::uint64_t ms = 0;
  if (!read_number(value, ms) || ms == 0 || ms > kMost) return "must be a number of ms, 1 to 10000";
  options.run.eventlog_interval_ns = ms * kNsPerMs;
  return nullptr;
}
const char* set_eventlog_to(Options& options, std::string_view value) noexcept {
  StreamTarget target;
  if (const char* const why = target.set(value); why != nullptr) return why;
  if (!dir_template::is_good(target.path.view())) return kWordsOfPaths;
  target.format = target.kind == StreamTarget::Kind::kFile ? 0 : bit_of_format("eventlog");
  options.stream = target;
  return nullptr;
}
const char* set_openj9_select(Options& options, std::string_view value) noexcept {
  return options.run.openj9_select.set(value);
}
const char* set_openj9_type(Options& options, std::string_view value) noexcept {
  return choose(options.run.openj9_internal, {"external", "internal"}, value)
             ? nullptr
             : "must be external or internal";
}
const char* set_sample(Options& options, std::string_view value) noexcept {
  std::uint64_t hz = 0;
  if (!read_size(value, hz) || hz > sampler::kMostHz) return "must be 0, or 1 to 100000 a second";
  options.run.samples_hz = static_cast<std::uint32_t>(hz);
  return nullptr;
}
const char* set_sample_stack(Options& options, std::string_view value) noexcept {
  constexpr std::uint32_t kWord = 8;
  std::uint64_t bytes = 0;
  if (!read_size(value, bytes) || bytes > sampler::kMostStackBytes) return "must be 0 to 60k";
  options.sample_stack_bytes = static_cast<std::uint32_t>(bytes) / kWord * kWord;
  return nullptr;
}
const char* set_sample_event(Options& options, std::string_view value) noexcept {
  return choose(options.run.samples_by_cycles, {"clock", "cycles"}, value) ? nullptr
                                                                           : "must be clock or cycles";
}
const char* set_verbose(Options& options, std::string_view value) noexcept {
  return set_flag(options.verbose, value);
}
const char* set_help(Options& options, std::string_view value) noexcept {
  return set_flag(options.help, value);
}

struct OptionRow {
  std::string_view name;
  std::string_view values;
  std::string_view initial;
  Setter set;  // null: not built yet
  std::string_view help;
};

constexpr OptionRow kRows[] = {
#define OPTION(name, values, initial, setter, help) {#name, values, initial, setter, help},
#define LATER(name) {#name, "", "", nullptr, ""},
#include "agent/life/options.def"
#undef OPTION
#undef LATER
};

template <class Row>
void say_rows(std::string_view option, std::span<const Row> rows, void (*say)(std::string_view)) noexcept {
  for (const Row& row : rows) {
    if (!is_built(row)) continue;
    Message line;
    line.text(option).text(row.name).text("  ").text(row.help);
    say(line.view());
  }
}

std::string_view unquoted(std::string_view value) noexcept {
  if (value.size() < 2 || value.front() != value.back()) return value;
  if (value.front() != '"' && value.front() != '\'') return value;
  return first(without_first(value, 1), value.size() - 2);
}

// A value that begins with a quote ends with the same: else the quote took in what was to follow.
bool is_quote_open(std::string_view value) noexcept {
  if (value.empty() || (value.front() != '"' && value.front() != '\'')) return false;
  return value.size() < 2 || value.back() != value.front();
}

void apply_one(Options& options, std::string_view word) noexcept {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) return note_problem(options, word, "must be key=value");
  const std::string_view key = first(word, equals);
  const auto* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const OptionRow& r) { return r.name == key; });
  if (row == std::end(kRows)) return note_problem(options, word, "unknown option; help=1 lists them");
  if (row->set == nullptr) return note_problem(options, word, "this option is not built yet");
  const std::string_view value = without_first(word, equals + 1);
  if (is_quote_open(value)) return note_problem(options, word, "the quote does not end where the value does");
  if (const char* why = row->set(options, unquoted(value)); why != nullptr)
    return note_problem(options, word, why);
  options.words.set(key, unquoted(value));
}

// The end of the word at the front of `text`: the first blank outside quotes.
std::size_t word_end(std::string_view text) noexcept {
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      return i;
    }
  }
  return text.size();
}

}  // namespace

void note_problem(Options& options, std::string_view what, std::string_view why) noexcept {
  const std::uint32_t index = options.problem_count++;
  if (index >= Options::kMaxProblems) return;
  (void)options.problems[index].what.set(first(what, 95));
  (void)options.problems[index].why.set(first(why, 159));
}

bool writes(const Options& options, std::string_view format) noexcept {
  return (options.formats & bit_of_format(format)) != 0;
}

void set_defaults(Options& options) noexcept {
  new (&options) Options;  // not by a copy: 6 KiB of a host's stack
  for (const OptionRow& row : kRows) {
    if (row.set != nullptr) (void)row.set(options, row.initial);
  }
  options.dir_was_given = false;
}

void apply(Options& options, std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t end = word_end(text);
    if (end != 0) apply_one(options, first(text, end));
    text = without_first(text, end + 1);
  }
}

std::size_t option_count() noexcept {
  return std::size(kRows);
}

OptionText option_text(std::size_t index) noexcept {
  const OptionRow& row = kRows[index];
  return {row.name, row.values, row.initial, row.help, row.set != nullptr};
}

void for_each_help_line(void (*say)(std::string_view)) noexcept {
  for (const OptionRow& row : kRows) {
    if (row.set == nullptr) continue;
    Message line;
    line.text(row.name).text("=").text(row.values).text("  (").text(row.initial).text(")  ").text(row.help);
    say(line.view());
  }
  say_rows<SinkRow>("formats=", sink_rows(), say);
  say_rows<intake::Row>("intakes=", intake::rows(), say);
}

}  // namespace jitquill
