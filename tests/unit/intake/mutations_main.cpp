// symfile_mutations SEED TIMES FILE...: damages files that were taken from a JIT. Exit code 1: a promise was
// broken, or nothing was read.
#include <cstdio>
#include <cstdlib>

#include "tests/support/temp_folder.hpp"
#include "tests/unit/intake/mutations.hpp"

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  bool is_good = true;
  for (int i = 3; i < argc; ++i) {
    const std::string text = test_support::read_text(argv[i]);
    const std::vector<std::uint8_t> file(text.begin(), text.end());
    mutations::Outcome whole;
    mutations::look(file, whole);
    const auto outcome = mutations::run(file, static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)),
                                        static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10)));
    std::printf(
        "%s: whole %llu functions %llu lines; damaged: %u read %u refused %llu functions %llu lines %llu "
        "faults\n",
        argv[i], static_cast<unsigned long long>(whole.functions),
        static_cast<unsigned long long>(whole.lines), outcome.read, outcome.refused,
        static_cast<unsigned long long>(outcome.functions), static_cast<unsigned long long>(outcome.lines),
        static_cast<unsigned long long>(outcome.faults));
    is_good = is_good && whole.functions != 0 && whole.lines != 0 && outcome.read != 0 && outcome.faults == 0;
  }
  return is_good ? 0 : 1;
}
