// What the command line asks for. The options of `run` and `perf` are the rows of agent/life/options.def.
//
// Promises  parse() has said what is wrong, or printed the help, where it gives an exit code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jitquill::cli {

struct AgentOption {
  std::string key;  // as in the table
  std::string value;
};

struct RunArguments {
  std::vector<AgentOption> options;
  std::vector<std::string> command;  // never empty
  std::optional<std::string> json;   // a file; "-" = stdout, empty = stderr in place of the summary
  bool is_quiet = false;
};

struct PerfArguments {
  RunArguments run;
  std::vector<std::string> perf_arguments;  // of perf record
  bool reports = true;
};

struct RecoverArguments {
  std::string folder;  // empty = all of this user's
};

struct ShowArguments {
  std::string file;
  std::uint64_t limit = 0;  // 0 = all
};

struct CheckArguments {
  std::vector<std::string> files;
  std::uint64_t limit = 100;  // findings that are shown; 0 = all
  bool was_killed = false;
};

struct ConvertArguments {
  std::string from;  // folded stacks
  std::string to;    // a page; "-" = stdout
  std::string title;
  std::string unit = "samples";
};

using Arguments = std::variant<RunArguments, PerfArguments, RecoverArguments, ShowArguments, CheckArguments,
                               ConvertArguments>;

struct Parsed {
  std::optional<Arguments> arguments;
  int exit_code = 0;  // where there are none
};

// Without the program's own name.
Parsed parse(std::vector<std::string> words);

}  // namespace jitquill::cli
