#include "agent/cli/words.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace jitquill::cli {

void say(std::string_view line) {
  std::string text = "jitquill: ";
  text.append(line).append("\n");
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
}

std::string error_text(int error) {
  const char* const known = strerrordesc_np(error);
  return known != nullptr ? known : "error " + std::to_string(error);
}

std::string counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count) + " ";
  text.append(noun);
  if (count != 1) text.append(noun.ends_with("s") ? "es" : "s");
  return text;
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return counted(bytes, "byte");
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.1f %s", amount, kUnits[unit].data());
  return text;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line.append(line.empty() ? "" : " ").append(shell_word(word));
  return line;
}

std::string plain(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      '?');
  return shown;
}

}  // namespace jitquill::cli
