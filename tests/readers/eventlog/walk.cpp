// Says what an eventlog has in it, and what is wrong: eventlog-walk [--list] FILE. Exit status 1: something
// is.
#include <cstdio>
#include <string_view>

#include "tests/readers/eventlog/reader.hpp"

int main(int argc, char** argv) {
  const bool lists = argc == 3 && std::string_view(argv[1]) == "--list";
  if (argc != 2 && !lists) return std::fprintf(stderr, "eventlog-walk [--list] FILE\n"), 2;
  const auto file = eventlog_reader::read_file(argv[argc - 1]);
  for (const auto& event : file.events) {
    if (!lists) break;
    std::printf("%llu cap %u %u %s", static_cast<unsigned long long>(event.when_ns), event.capability,
                event.number, event.name.c_str());
    for (const std::uint64_t number : event.numbers)
      std::printf(" %llu", static_cast<unsigned long long>(number));
    for (const std::string& text : event.texts) std::printf(" '%s'", text.c_str());
    std::printf("\n");
  }
  std::printf("%zu types, %llu bytes of header, %zu events, %llu steps back\n", file.types.size(),
              static_cast<unsigned long long>(file.header_size), file.events.size(),
              static_cast<unsigned long long>(file.backward_steps));
  std::printf("%s", describe(file.violations).c_str());
  return file.violations.empty() ? 0 : 1;
}
