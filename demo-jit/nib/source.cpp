#include "nib/source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace nib {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

}  // namespace

std::optional<Source> read_source(const std::string& path) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) return std::nullopt;
  Source source{.name = path, .absolute_path = path, .text = {}};
  char piece[4096];
  while (const std::size_t size = std::fread(piece, 1, sizeof piece, file.get())) {
    source.text.append(piece, size);
    if (source.text.size() > kMaxSourceSize) {
      errno = EFBIG;
      return std::nullopt;
    }
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  std::error_code failed;
  const auto absolute = std::filesystem::absolute(path, failed);
  if (!failed) source.absolute_path = absolute.lexically_normal().string();
  return source;
}

std::string to_line(const Source& source, const Diagnostic& diagnostic) {
  return source.name + ":" + std::to_string(diagnostic.at.line) + ":" + std::to_string(diagnostic.at.column) +
         ": error: " + diagnostic.text;
}

void Diagnostics::error(Position at, std::string text) {
  if (full() || (!errors_.empty() && errors_.back().at == at)) return;
  errors_.push_back({at, std::move(text)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<Diagnostic> result = errors_;
  std::stable_sort(result.begin(), result.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.at < b.at; });
  return result;
}

}  // namespace nib
