#include "agent/cli/preload.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "agent/cli/words.hpp"

namespace jitquill::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kLibrary[] = "libjitquill-preload.so";

bool has_word(const std::string& list, const std::string& word) {
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find_first_of(": ", begin), list.size());
    if (list.compare(begin, end - begin, word) == 0) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string preload_library() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  for (const fs::path& folder : {self.parent_path(), self.parent_path() / JITQUILL_LIBRARIES_FROM_COMMAND}) {
    const fs::path library = fs::canonical(folder / kLibrary, error);
    if (error) continue;
    if (library.native().find_first_of(": ") == std::string::npos) return library;
    say(library.native() + ": LD_PRELOAD cannot name a path with a blank or a colon; install it elsewhere");
    return {};
  }
  say(std::string(kLibrary) + " is neither beside " + self.native() + " nor in " +
      (self.parent_path() / JITQUILL_LIBRARIES_FROM_COMMAND).lexically_normal().native() +
      "; install both together");
  return {};
}

std::vector<std::string> agent_environment(const std::string& library, const std::string& options,
                                           const std::string& run_list) {
  const char* const inherited = std::getenv("LD_PRELOAD");
  std::string preloaded = inherited != nullptr ? inherited : "";
  if (!has_word(preloaded, library)) preloaded = library + (preloaded.empty() ? "" : ":") + preloaded;
  return {"LD_PRELOAD=" + preloaded, "JITQUILL_OPTIONS=" + options, "JITQUILL_RUN_LIST=" + run_list};
}

}  // namespace jitquill::cli
