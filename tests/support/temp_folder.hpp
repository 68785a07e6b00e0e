// A folder of a test's own, gone when the test ends.
//
// Context   tests.
#pragma once

#include <string>
#include <vector>

namespace test_support {

class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read_text(const std::string& path);  // empty if there is no such file

// The regular files below `folder` whose base name starts and ends like that, sorted.
std::vector<std::string> files_below(const std::string& folder, const std::string& start,
                                     const std::string& end);

}  // namespace test_support
