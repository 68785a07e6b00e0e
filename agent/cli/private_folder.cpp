#include "agent/cli/private_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "agent/cli/words.hpp"

namespace jitquill::cli {

PrivateFolder::PrivateFolder() {
  const char* const place = std::getenv("TMPDIR");
  path_ = std::string(place != nullptr && place[0] == '/' ? place : "/tmp") + "/jitquill-run-XXXXXX";
  if (::mkdtemp(path_.data()) != nullptr) return;
  say("no folder can be made at " + path_ + ": " + error_text(errno) + "; TMPDIR may name another place");
  path_.clear();
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (is_there()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace jitquill::cli
