// A nib source text, places in it, and the errors found there.
//
// Context   any; no globals.
// Promises  an error's text is one line: "file:line:column: error: text". Lines and columns count from 1,
//           columns in bytes. Diagnostics keeps at most kLimit errors, so garbage cannot flood a terminal.
// Does not  print.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nib {

struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
  auto operator<=>(const Position&) const = default;
};

struct Source {
  std::string name;           // as the user gave it: stands in messages
  std::string absolute_path;  // for tools, which run in other directories
  std::string text;
};

inline constexpr std::size_t kMaxSourceSize = std::size_t{16} << 20;

// Nothing: errno says why (EFBIG when above kMaxSourceSize).
std::optional<Source> read_source(const std::string& path);

struct Diagnostic {
  Position at;
  std::string text;
};

std::string to_line(const Source& source, const Diagnostic& diagnostic);

class Diagnostics {
 public:
  static constexpr std::size_t kLimit = 20;

  // A second error at the place of the last one is a consequence of it and left out.
  void error(Position at, std::string text);
  bool empty() const noexcept { return errors_.empty(); }
  bool full() const noexcept { return errors_.size() >= kLimit; }
  // In the order of the text, whichever pass found them.
  std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> errors_;
};

}  // namespace nib
