#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "agent/cli/file_bytes.hpp"
#include "agent/cli/flame_page.hpp"
#include "agent/cli/verbs.hpp"
#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

// <command>-<pid>, where it is in an output folder; else the file's own name.
std::string title_of(const std::string& file) {
  const fs::path path = fs::absolute(file).lexically_normal();
  const bool is_in_folder = path.filename() == "folded" && path.has_parent_path();
  return (is_in_folder ? path.parent_path() : path).filename().native();
}

bool put_out(const std::string& page, const std::string& to) {
  if (to == "-")
    return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0;
  std::FILE* const file = std::fopen(to.c_str(), "we");
  if (file == nullptr) return false;
  const bool is_put = std::fwrite(page.data(), 1, page.size(), file) == page.size();
  return std::fclose(file) == 0 && is_put;
}

int refuse(const std::string& file, const std::string& why) {
  say(plain(file) + ": " + why);
  return kUnreadable;
}

}  // namespace

int do_verb(const ConvertArguments& arguments) {
  const FileBytes bytes(arguments.from);
  if (const std::string trouble = bytes.trouble(); !trouble.empty()) return refuse(arguments.from, trouble);
  const FoldedFile folded = read_folded(bytes.view());
  if (!folded.trouble.empty()) return refuse(arguments.from, folded.trouble);
  std::error_code ignored;
  if (fs::equivalent(arguments.from, arguments.to, ignored))
    return refuse(arguments.to, "this is the file that is read");
  const std::string title = arguments.title.empty() ? title_of(arguments.from) : arguments.title;
  errno = 0;
  if (!put_out(flame_page(folded, title, arguments.unit), arguments.to))
    return refuse(arguments.to, error_text(errno));
  return 0;
}

}  // namespace jitquill::cli
