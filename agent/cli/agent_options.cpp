#include "agent/cli/agent_options.hpp"

#include <algorithm>
#include <cstdlib>

#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

constexpr std::size_t kMostText = 4095;  // the agent keeps no more of its environment

// A value is quoted with what is not in it.
std::optional<std::string> word_of(const AgentOption& option) {
  for (const char quote : {'\'', '"'}) {
    if (option.value.find(quote) == std::string::npos) return option.key + "=" + quote + option.value + quote;
  }
  return std::nullopt;
}

bool say_problems(const Options& options, std::string_view where) {
  const std::size_t kept = std::min<std::size_t>(options.problem_count, Options::kMaxProblems);
  for (std::size_t i = 0; i < kept; ++i) {
    const OptionProblem& problem = options.problems[i];
    say(std::string(where) + std::string(problem.what.view()) + ": " + std::string(problem.why.view()));
  }
  if (options.problem_count > kept)
    say(counted(options.problem_count - kept, "further option") + " like that");
  return options.problem_count != 0;
}

Options read(std::string_view text) {
  Options options;
  set_defaults(options);
  apply(options, text);
  return options;
}

}  // namespace

std::optional<AgentOptions> agent_options(const std::vector<AgentOption>& given) {
  const char* const inherited = std::getenv("JITQUILL_OPTIONS");
  AgentOptions all;
  all.text = inherited != nullptr ? inherited : "";
  // Alone: a quote left open in it would take in what is put behind.
  bool is_bad = say_problems(read(all.text), "JITQUILL_OPTIONS: ");
  std::string ours;
  for (const AgentOption& option : given) {
    const auto word = word_of(option);
    if (!word) say(option.key + ": its value has both kinds of quotes in it; leave one out");
    is_bad = is_bad || !word;
    ours += (ours.empty() ? "" : " ") + word.value_or("");
  }
  is_bad = say_problems(read(ours), "") || is_bad;
  if (!ours.empty()) all.text += (all.text.empty() ? "" : " ") + ours;
  if (all.text.size() > kMostText) say("the options are longer than 4095 bytes together; use shorter paths");
  if (is_bad || all.text.size() > kMostText) return std::nullopt;
  all.read = read(all.text);
  return all;
}

bool names_option(std::string_view text, std::string_view key) {
  const std::string word = std::string(key) + "=";
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\t' || text[at - 1] == '\n') return true;
  }
  return false;
}

}  // namespace jitquill::cli
