// `jitquill`: runs programs with the agent in them, and reads what it wrote (docs/jitquill.md).
#include <exception>

#include "agent/cli/verbs.hpp"
#include "agent/cli/words.hpp"

int main(int argc, char** argv) {
  using namespace jitquill::cli;
  try {
    const Parsed parsed = parse({argv + 1, argv + argc});
    if (!parsed.arguments) return parsed.exit_code;
    return std::visit([](const auto& arguments) { return do_verb(arguments); }, *parsed.arguments);
  } catch (const std::exception& error) {
    say(error.what());
    return kOwnTrouble;
  }
}
