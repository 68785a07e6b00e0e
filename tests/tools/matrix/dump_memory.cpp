// Compares the bytes of a dump's functions with the memory of the process that wrote it, which lives and
// waits:
//   dump-memory DUMP PATTERN...
// Prints "changed NAME" for each that differs; for each pattern, "hot EQUAL ALL": functions whose names match
// this extended regular expression. Then "functions EQUAL ALL" and "bytes EQUAL ALL", of all. Functions that
// newer code overlaps are gone, and so are those that cannot be read: a dump does not say when code was
// withdrawn. Exit code 1: no dump, or no process.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/readers/jitdump/reader.hpp"

namespace {

using jitdump_reader::Dump;
using jitdump_reader::Function;

// By address.
using Live = std::map<std::uint64_t, const Function*>;

Live living(const Dump& dump) {
  Live live;
  for (const Function& function : dump.functions) {
    const std::uint64_t end = function.address + function.code.size();
    auto next = live.lower_bound(function.address);
    if (next != live.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second->code.size() > function.address) live.erase(before);
    }
    while (next != live.end() && next->first < end) next = live.erase(next);
    live[function.address] = &function;
  }
  return live;
}

struct Share {
  std::size_t equal = 0;
  std::size_t all = 0;
  void add(std::size_t equal_more, std::size_t all_more) {
    equal += equal_more;
    all += all_more;
  }
};

std::size_t equal_bytes(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return equal;
}

class Comparison {
 public:
  Comparison(int memory, char** patterns, int count) : memory_(memory) {
    for (int i = 0; i < count; ++i) hot_.push_back({std::regex(patterns[i], std::regex::extended), {}});
  }

  void add(const Function& function) {
    std::vector<std::uint8_t> bytes(function.code.size());
    const ssize_t got = ::pread(memory_, bytes.data(), bytes.size(), static_cast<off_t>(function.address));
    if (got != static_cast<ssize_t>(bytes.size())) return;
    const bool is_equal = bytes == function.code;
    functions_.add(is_equal ? 1 : 0, 1);
    bytes_.add(equal_bytes(bytes, function.code), bytes.size());
    if (!is_equal) std::printf("changed %s\n", function.name.c_str());
    for (Hot& hot : hot_) {
      if (std::regex_search(function.name, hot.pattern)) hot.functions.add(is_equal ? 1 : 0, 1);
    }
  }

  void report() const {
    for (const Hot& hot : hot_) say("hot", hot.functions);
    say("functions", functions_);
    say("bytes", bytes_);
  }

 private:
  struct Hot {
    std::regex pattern;
    Share functions;
  };
  static void say(const char* what, const Share& share) {
    std::printf("%s %zu %zu\n", what, share.equal, share.all);
  }

  int memory_;
  std::vector<Hot> hot_;
  Share functions_;
  Share bytes_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: dump-memory DUMP PATTERN...\n");
    return 1;
  }
  const Dump dump = jitdump_reader::read_file(argv[1]);
  const std::string process = "/proc/" + std::to_string(dump.header.pid) + "/mem";
  const int memory = ::open(process.c_str(), O_RDONLY | O_CLOEXEC);
  if (memory < 0) {
    std::perror(process.c_str());
    return 1;
  }
  Comparison comparison(memory, argv + 2, argc - 2);
  for (const auto& [address, function] : living(dump)) comparison.add(*function);
  comparison.report();
  return 0;
}
