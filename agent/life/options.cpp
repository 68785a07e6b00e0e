#include "agent/life/options.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <span>

#include "agent/base/arch_clock.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/intake/intake.hpp"
#include "agent/lanes/lane_folder.hpp"
#include "agent/life/dir_template.hpp"
#include "agent/life/format_options.hpp"
#include "agent/life/option_values.hpp"
#include "agent/sampler/event.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {
namespace {

// A setter answers null, or why the value does not do.
using Setter = const char* (*)(Options&, std::string_view);

// Sets the bit of a table's row. Null, or why it has none.
template <class Row>
const char* add_row(std::span<const Row> rows, std::uint32_t& bits, std::string_view name,
                    bool (*is_built)(const Row&)) noexcept {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.name == name; });
  if (row == rows.end()) return "unknown name; help=1 lists them, and so does jitquill run --help";
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

const char* set_dir(Options& options, std::string_view value) noexcept {
  if (value.empty()) return "must not be empty";
  if (std::ranges::any_of(value, [](char c) { return static_cast<unsigned char>(c) < 0x20; }))
    return "must not have control characters";
  if (!dir_template::is_good(value)) return kWordsOfPaths;
  options.dir_was_given = true;
  return options.dir.set(value) ? nullptr : "path too long";
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

bool is_file_of(const SinkRow& row, std::string_view name) noexcept {
  const std::string_view file = row.file == nullptr ? std::string_view() : row.file;
  if (file.empty()) return false;
  return file.front() == '.' ? name.ends_with(file) : name == first(file, file.find('/'));
}

// By another file of the output folder.
bool is_taken(std::string_view name) noexcept {
  constexpr std::string_view kBegins[] = {".", "jit-", "perf-"};
  constexpr std::string_view kEnds[] = {".dat"};  // beside openj9's
  constexpr std::string_view kNames[] = {"stats", lanes::LaneFolder::kLinkName};
  return std::ranges::any_of(kBegins, [&](auto begin) { return name.starts_with(begin); }) ||
         std::ranges::any_of(kEnds, [&](auto end) { return name.ends_with(end); }) ||
         std::ranges::any_of(kNames, [&](auto taken) { return name == taken; }) ||
         std::ranges::any_of(sink_rows(), [&](const SinkRow& row) { return is_file_of(row, name); });
}

const char* set_log(Options& options, std::string_view value) noexcept {
  if (value == "none") value = {};
  if (value.find('/') != value.npos) return "must be a file name without /: it lies in the output folder";
  if (is_taken(value)) return "this name is taken by another file of the output folder, or hidden";
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
const char* set_sample(Options& options, std::string_view value) noexcept {
  std::uint64_t hz = 0;
  if (!read_number(value, hz) || hz > sampler::kMostHz) return "must be 0, or 1 to 100000 a second";
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
  if (row == std::end(kRows))
    return note_problem(options, word, "unknown option; help=1 lists them, and so does jitquill run --help");
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
