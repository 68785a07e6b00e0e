#include "tests/host/cli/cli.hpp"

#include <fstream>
#include <sstream>

namespace cli_test {
namespace {

std::vector<pid_t> children_of(pid_t process) {
  const std::string number = std::to_string(process);
  std::ifstream in("/proc/" + number + "/task/" + number + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; in >> child;) children.push_back(child);
  return children;
}

std::string status_field(pid_t process, const std::string& name) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name + ":")) return line.substr(name.size() + 2);
  }
  return {};
}

}  // namespace

test_support::Command jitquill(const test_support::TempFolder& folder,
                               const std::vector<std::string>& words) {
  test_support::Command command;
  command.words = {JITQUILL_COMMAND};
  command.words.insert(command.words.end(), words.begin(), words.end());
  command.environment = {{"HOME", folder.path()}, {"LC_ALL", "C"}};
  command.folder = folder.path();
  return command;
}

test_support::Ended run_jitquill(const test_support::TempFolder& folder,
                                 const std::vector<std::string>& words) {
  return test_support::run(jitquill(folder, words));
}

std::string program(const std::string& name) {
  return PROGRAMS "/" + name + ".nib";
}

bool has_child_named(pid_t process, const std::string& name) {
  for (const pid_t child : children_of(process)) {
    if (status_field(child, "Name") == name) return true;
  }
  return false;
}

}  // namespace cli_test
