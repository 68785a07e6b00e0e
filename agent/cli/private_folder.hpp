// A folder of this run's own, 0700, and gone with what is in it when the run ends.
#pragma once

#include <string>

namespace jitquill::cli {

class PrivateFolder {
 public:
  PrivateFolder();  // in $TMPDIR or /tmp; says so where it cannot be made
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  bool is_there() const { return !path_.empty(); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace jitquill::cli
