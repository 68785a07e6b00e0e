// jitdump-check: says what is wrong with jitdump files, or lists what they hold.
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "tests/readers/jitdump/reader.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;

constexpr char kUsage[] =
    "usage: jitdump-check [--list] [--may-be-torn] [--nothing-freed] FILE...\n"
    "  Reads jitdump files by the letter of the format; one line per violation. Exit status: 0 none, 1 "
    "some,\n"
    "  2 wrong usage.\n"
    "  --list           also print the functions\n"
    "  --may-be-torn    the process was killed: its last record may be cut off\n"
    "  --nothing-freed  no code was unloaded: report functions that share address space\n";

std::string unwinding_text(const Function& function) {
  if (!function.unwinding) return "none";
  if (function.unwinding->frame_pointers) return "frame-pointers";
  if (function.twin) return "by a twin";
  return "yes";
}

void list(const Dump& dump) {
  std::printf("%-8s %-18s %10s %6s %-14s %6s %20s  %s\n", "index", "address", "size", "lines", "unwinding",
              "mapped", "time_ns", "name");
  for (const Function& function : dump.functions) {
    std::printf("%-8" PRIu64 " 0x%016" PRIx64 " %10zu %6zu %-14s %6" PRIu64 " %20" PRIu64 "  %s\n",
                function.index, function.address, function.code.size(), function.lines.size(),
                unwinding_text(function).c_str(), function.unwinding ? function.unwinding->mapped : 0,
                function.when, function.name.c_str());
  }
}

bool check(const std::string& path, const jitdump_reader::Expectations& expectations, bool with_list) {
  const Dump dump = jitdump_reader::read_file(path, expectations);
  if (with_list) list(dump);
  for (const auto& violation : dump.violations) {
    std::printf("%s: %s\n", path.c_str(), jitdump_reader::describe(violation).c_str());
  }
  std::printf("%s: %zu functions, %zu violations%s%s\n", path.c_str(), dump.functions.size(),
              dump.violations.size(), dump.torn ? ", last record torn" : "", dump.closed ? ", closed" : "");
  return dump.violations.empty();
}

struct Arguments {
  jitdump_reader::Expectations expectations;
  bool with_list = false;
  std::vector<std::string> files;  // none: wrong usage
};

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--list") {
      arguments.with_list = true;
    } else if (argument == "--may-be-torn") {
      arguments.expectations.may_be_torn = true;
    } else if (argument == "--nothing-freed") {
      arguments.expectations.nothing_freed = true;
    } else if (argument.starts_with("--")) {
      return {};
    } else {
      arguments.files.emplace_back(argument);
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  if (arguments.files.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  bool good = true;
  for (const std::string& file : arguments.files) {
    good = check(file, arguments.expectations, arguments.with_list) && good;
  }
  return good ? 0 : 1;
}
