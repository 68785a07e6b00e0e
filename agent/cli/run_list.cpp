#include "agent/cli/run_list.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "agent/cli/words.hpp"

namespace jitquill::cli {

RunList::RunList() {
  if (!folder_.is_there()) return;
  const std::string path = folder_.file("list");
  const int made = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (made < 0) {
    say("no file can be made at " + path + ": " + error_text(errno));
    return;
  }
  ::close(made);
  path_ = path;
}

std::vector<std::string> RunList::folders() const {
  std::vector<std::string> all;
  std::ifstream in(path_, std::ios::binary);
  for (std::string folder; std::getline(in, folder, '\0');) all.push_back(folder);
  return all;
}

}  // namespace jitquill::cli
