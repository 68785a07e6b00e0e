// The file in which the processes of one run name the folders that they made.
//
// Only they know: a folder's place and name follow from options that a process may read anew, from where it
// started, and from what it could not use. What another run writes to the same place at the same time is not
// in it.
//
// Promises  gone afterwards: a process that outlives the run finds none.
#pragma once

#include <string>
#include <vector>

#include "agent/cli/private_folder.hpp"

namespace jitquill::cli {

class RunList {
 public:
  RunList();

  bool is_there() const { return !path_.empty(); }
  const std::string& path() const { return path_; }  // empty if it is not there
  // In the order in which they were made.
  std::vector<std::string> folders() const;

 private:
  PrivateFolder folder_;
  std::string path_;
};

}  // namespace jitquill::cli
