#include "tests/unit/intake/sample.hpp"

#include <sstream>

#include "tests/support/symfile.hpp"
#include "tests/support/temp_folder.hpp"

namespace sample {

std::vector<std::uint8_t> object() {
  const std::string text = test_support::read_text(SAMPLE_OBJECT);
  std::vector<std::uint8_t> bytes(text.begin(), text.end());
  if (!bytes.empty()) test_support::load_at(bytes, kAddress, kGap);
  return bytes;
}

unsigned line_of(const std::string& text) {
  std::istringstream source(test_support::read_text(SAMPLE_SOURCE));
  unsigned number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  return 0;
}

const Seen* Functions::find(const std::string& name) const {
  for (const Seen& seen : all) {
    if (seen.name == name) return &seen;
  }
  return nullptr;
}

Functions functions_of(std::span<const std::uint8_t> file) {
  Functions functions;
  const auto see = [](void* to, const jitquill::symfile::Function* function) {
    Seen seen{function->address, function->size, {function->name, function->name_size}, {}};
    for (std::uint64_t i = 0; i < function->line_count; ++i) {
      const jitquill::Line& line = function->lines[i];
      seen.lines.push_back({line.offset, line.line, line.column, line.file});
    }
    static_cast<Functions*>(to)->all.push_back(std::move(seen));
  };
  functions.is_read = jitquill_symfile_v1.functions(file.data(), file.size(), see, &functions) != 0;
  return functions;
}

}  // namespace sample
