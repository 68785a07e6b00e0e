// Damages a symbol file again and again, and has the plugin read it each time.
//
// Context   tests. The damage follows from the seed alone.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "agent/intake/symfile/plugin.hpp"

namespace mutations {

struct Outcome {
  unsigned read = 0;
  unsigned refused = 0;
  std::uint64_t functions = 0;
  std::uint64_t lines = 0;
  std::uint64_t faults = 0;  // functions or sections that break a promise
};

class Damage {
 public:
  explicit Damage(std::uint32_t seed) : random_(seed) {}

  // Bytes, words that are likely to be trusted, moved pieces, a cut end.
  void apply(std::vector<std::uint8_t>& file) {
    for (std::size_t times = 1 + below(6); times > 0 && file.size() > 16; --times) {
      switch (below(8)) {
        case 0:
          file.resize(below(file.size()));
          break;
        case 1:
          move_piece(file);
          break;
        case 2:
        case 3:
          put_word(file, below(file.size()));
          break;
        case 4:
          put_word(file, file.size() - 1 - below(file.size() / 4));  // the section headers
          break;
        default:
          file[below(file.size())] = static_cast<std::uint8_t>(random_());
      }
    }
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  void put_word(std::vector<std::uint8_t>& file, std::size_t at) {
    static constexpr std::uint64_t kWords[] = {0,
                                               1,
                                               0x7F,
                                               0x80,
                                               0xFF,
                                               0xFFFF,
                                               0x7FFFFFFF,
                                               0x80000000,
                                               0xFFFFFFFF,
                                               0x7FFFFFFFFFFFFFFF,
                                               ~std::uint64_t{0}};
    const std::uint64_t word = kWords[below(std::size(kWords))];
    const std::size_t size = std::size_t{1} << below(4);
    if (at + size <= file.size()) std::memcpy(file.data() + at, &word, size);
  }
  void move_piece(std::vector<std::uint8_t>& file) {
    const std::size_t size = 1 + below(16);
    const std::size_t from = below(file.size() - 16);
    std::memmove(file.data() + below(file.size() - 16), file.data() + from, size);
  }

  std::mt19937 random_;
};

inline void look(std::span<const std::uint8_t> file, Outcome& outcome) {
  const auto see_section = [](void* to, const jitquill::symfile::Section* section) {
    auto& of = *static_cast<std::pair<std::span<const std::uint8_t>, Outcome*>*>(to);
    if (section->content == nullptr) return;
    const bool is_inside =
        section->content >= of.first.data() &&
        section->size <= static_cast<std::uint64_t>(of.first.data() + of.first.size() - section->content);
    if (!is_inside) ++of.second->faults;
  };
  std::pair<std::span<const std::uint8_t>, Outcome*> to(file, &outcome);
  (void)jitquill_symfile_v1.sections(file.data(), file.size(), see_section, &to);

  struct Walk {
    Outcome& outcome;
    std::uint64_t end = 0;
  } walk{outcome};
  const auto see = [](void* at, const jitquill::symfile::Function* function) {
    auto& so_far = *static_cast<Walk*>(at);
    ++so_far.outcome.functions;
    so_far.outcome.lines += function->line_count;
    if (function->address < so_far.end || function->size == 0) ++so_far.outcome.faults;
    so_far.end = function->address + function->size;
    std::uint32_t before = 0;
    for (std::uint64_t i = 0; i < function->line_count; ++i) {
      const jitquill::Line& line = function->lines[i];
      if (line.offset < before || line.offset >= function->size || line.file == nullptr)
        ++so_far.outcome.faults;
      before = line.offset;
      so_far.outcome.lines += std::strlen(line.file) == 0;  // readable to its end
    }
    if (std::string_view(function->name, function->name_size).find('\0') != std::string_view::npos)
      ++so_far.outcome.faults;
  };
  const bool is_read = jitquill_symfile_v1.functions(file.data(), file.size(), see, &walk) != 0;
  ++(is_read ? outcome.read : outcome.refused);
}

// In memory of exactly its size, so that a sanitizer sees each byte too far.
inline Outcome run(std::span<const std::uint8_t> file, std::uint32_t seed, unsigned times) {
  Outcome outcome;
  Damage damage(seed);
  for (unsigned i = 0; i < times; ++i) {
    std::vector<std::uint8_t> damaged(file.begin(), file.end());
    damage.apply(damaged);
    damaged.shrink_to_fit();
    look(damaged, outcome);
  }
  return outcome;
}

}  // namespace mutations
