#include "agent/cli/arguments.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "agent/cli/words.hpp"
#include "agent/intake/intake.hpp"
#include "agent/life/options.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill::cli {
namespace {

constexpr char kCommandMark[] = "--";
constexpr char kPerfMark[] = "--perf-args";

std::string with_dashes(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  return dashed;
}

// `--max_bytes=1M` as `--max-bytes=1M`.
void normalize(std::string& word) {
  if (!word.starts_with("--")) return;
  std::replace(word.begin(),
               word.begin() + static_cast<std::ptrdiff_t>(std::min(word.find('='), word.size())), '_', '-');
}

// What is behind `mark`, which goes too. Nothing where it is not there.
std::optional<std::vector<std::string>> split_off(std::vector<std::string>& words, std::string_view mark) {
  const auto at = std::find(words.begin(), words.end(), mark);
  if (at == words.end()) return std::nullopt;
  std::vector<std::string> behind(std::make_move_iterator(at + 1), std::make_move_iterator(words.end()));
  words.erase(at, words.end());
  return behind;
}

// The table's rows as options of a subcommand, and what was given of them.
class TableOptions {
 public:
  explicit TableOptions(CLI::App& verb) : values_(option_count()) {
    for (std::size_t i = 0; i < option_count(); ++i) add_row(verb, i);
  }

  std::vector<AgentOption> given() const {
    std::vector<AgentOption> all;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (options_[i] == nullptr || options_[i]->count() == 0) continue;
      const bool is_bare = values_[i].empty() && option_text(i).values == "0|1";
      all.push_back({std::string(option_text(i).name), is_bare ? "1" : values_[i]});
    }
    return all;
  }

 private:
  void add_row(CLI::App& verb, std::size_t i) {
    const OptionText row = option_text(i);
    options_.push_back(nullptr);
    if (row.name == "help") return;
    CLI::Option* const option =
        verb.add_option("--" + with_dashes(row.name), values_[i], std::string(row.help));
    option->take_last()->group(row.is_built ? "What is recorded" : "");
    option->type_name(std::string(row.values) + " (" + std::string(row.initial) + ")");
    if (row.values == "0|1") option->expected(0, 1);
    options_.back() = option;
  }

  std::vector<std::string> values_;
  std::vector<CLI::Option*> options_;
};

// What the lists among the options are made of.
std::string names_of_values() {
  std::string text;
  for (const SinkRow& row : sink_rows()) {
    if (row.make != nullptr || row.make_run != nullptr)
      text.append("formats: ").append(row.name).append("  ").append(row.help).append("\n");
  }
  for (const intake::Row& row : intake::rows()) {
    if (row.help != nullptr)
      text.append("intakes: ").append(row.name).append("  ").append(row.help).append("\n");
  }
  return text;
}

// Of the verbs behind whose options a program comes.
class ProgramFormatter : public CLI::Formatter {
 public:
  explicit ProgramFormatter(std::string_view words) : words_(words) {}
  std::string make_usage(const CLI::App*, std::string name) const override {
    return "Usage: " + name + " [OPTIONS] " + words_ + "-- PROGRAM ARGUMENTS...\n";
  }

 private:
  std::string words_;
};

// The verbs, and where their values go.
struct CommandLine {
  CLI::App app{"Lets tools see what a JIT did. Start with: jitquill perf -- PROGRAM", "jitquill"};
  CLI::App* run = app.add_subcommand("run", "Run a program with the agent in it, and say what was recorded");
  CLI::App* perf = app.add_subcommand("perf", "The same under perf record, then perf inject and perf report");
  CLI::App* recover = app.add_subcommand("recover", "Finish what killed processes left");
  CLI::App* show = app.add_subcommand("show", "Print a file of ours as text");
  CLI::App* check = app.add_subcommand("check", "Say what is wrong in a file of ours, and for which reader");
  CLI::App* convert =
      app.add_subcommand("convert", "Make a flame graph of folded stacks: one page, no network");
  TableOptions run_table{*run};
  TableOptions perf_table{*perf};
  RunArguments run_arguments;
  PerfArguments perf_arguments;
  RecoverArguments recover_arguments;
  ShowArguments show_arguments;
  CheckArguments check_arguments;
  ConvertArguments convert_arguments;
  std::string run_json;
  std::string perf_json;
  CLI::Option* run_json_option = add_report_options(*run, run_arguments, run_json);
  CLI::Option* perf_json_option = add_report_options(*perf, perf_arguments.run, perf_json);

  CommandLine() {
    app.require_subcommand(1);
    app.set_version_flag("--version", "jitquill " JITQUILL_VERSION);
    run->formatter(std::make_shared<ProgramFormatter>(""));
    perf->formatter(std::make_shared<ProgramFormatter>("[--perf-args ARGUMENTS...] "));
    run->footer(names_of_values() +
                "Behind -- comes the program: jitquill run --formats perfmap -- node app.js");
    perf->footer(names_of_values() +
                 "--perf-args ARGUMENTS... -- PROGRAM: what is between goes to perf record, in place of "
                 "--call-graph dwarf,8192.");
    bool& reports = perf_arguments.reports;
    perf->add_flag_callback(
        "--no-report", [&reports] { reports = false; },
        "say the command that shows the report in place of it");
    recover->add_option(
        "DIR", recover_arguments.folder,
        "an output folder, the folder of these, or one of lanes; all of this user's if not given");
    show->add_option("FILE", show_arguments.file,
                     "a dump, an eventlog, a file of the OProfile ABI, stats or another text")
        ->required();
    show->add_option("--limit", show_arguments.limit, "of records or lines; 0 = all");
    convert->add_option("FOLDED", convert_arguments.from, "of formats=folded, or of a stackcollapse script")
        ->required();
    convert->add_option("PAGE", convert_arguments.to, "flame.html; - for stdout")->required();
    convert->add_option("--title", convert_arguments.title,
                        "of the page; what the file is called if not given");
    convert->add_option("--unit", convert_arguments.unit, "of its numbers: ns where calls were traced")
        ->capture_default_str();
    check->add_option("FILE", check_arguments.files, "dumps, eventlogs, files of the OProfile ABI")
        ->required();
    check->add_option("--limit", check_arguments.limit, "of findings that are shown; 0 = all");
    check->add_flag("--killed", check_arguments.was_killed,
                    "its process was killed: the last record may be cut off");
  }

  static CLI::Option* add_report_options(CLI::App& verb, RunArguments& to, std::string& json) {
    verb.add_flag("-q,--quiet", to.is_quiet, "no summary");
    return verb
        .add_option("--json", json, "the summary as JSON: into a file, - for stdout; on stderr without")
        ->type_name("[FILE]")
        ->expected(0, 1);
  }

  Arguments chosen(std::vector<std::string> command, std::vector<std::string> of_perf) {
    run_arguments.options = run_table.given();
    perf_arguments.run.options = perf_table.given();
    if (run_json_option->count() != 0) run_arguments.json = run_json;
    if (perf_json_option->count() != 0) perf_arguments.run.json = perf_json;
    run_arguments.command = perf_arguments.run.command = std::move(command);
    perf_arguments.perf_arguments = std::move(of_perf);
    if (run->parsed()) return run_arguments;
    if (perf->parsed()) return perf_arguments;
    if (recover->parsed()) return recover_arguments;
    if (show->parsed()) return show_arguments;
    if (convert->parsed()) return convert_arguments;
    return check_arguments;
  }
};

// CLI11 names all that it did not take, values too, the last first.
std::string words_of(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  const auto option =
      std::ranges::find_if(left, [](const std::string& word) { return word.starts_with('-'); });
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError) || left.empty())
    return error.what();
  return option != left.end() ? "unknown option " + *option
                              : "what is " + left.front() + "? A program comes behind --";
}

Parsed usage(const std::string& trouble) {
  say(trouble);
  return {std::nullopt, kUsage};
}

}  // namespace

Parsed parse(std::vector<std::string> words) {
  auto command = split_off(words, kCommandMark);
  const auto of_perf = split_off(words, kPerfMark);
  for (std::string& word : words) normalize(word);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  const auto line = std::make_unique<CommandLine>();
  try {
    line->app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return {std::nullopt, line->app.exit(error)};
    return usage(words_of(error, line->app) + "; see jitquill --help, jitquill run --help");
  }
  const bool starts_program = line->run->parsed() || line->perf->parsed();
  if (starts_program && (!command || command->empty()))
    return usage("which program? It comes behind --, as in: jitquill run -- PROGRAM ARGUMENTS");
  if (!starts_program && command) return usage("-- belongs to run and perf");
  if (of_perf && !line->perf->parsed()) return usage("--perf-args belongs to perf");
  return {line->chosen(command.value_or(std::vector<std::string>{}),
                       of_perf.value_or(std::vector<std::string>{})),
          0};
}

}  // namespace jitquill::cli
