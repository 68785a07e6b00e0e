// A program at a terminal of its own: what is typed, and what appears.
//
// Context   tests.
// Promises  no look waits for ever; what was started is gone afterwards.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace cli_test {

class Terminal {
 public:
  Terminal(const std::vector<std::string>& words, const std::string& folder);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  pid_t pid() const { return pid_; }
  void type(const std::string& keys) const;
  // Until `text` has appeared behind what earlier looks found; false if it does not.
  bool sees(const std::string& text);
  // The rest of the line behind what was last seen.
  std::string rest_of_line();
  const std::string& all() const { return shown_; }

 private:
  bool read_more();

  pid_t pid_ = -1;
  int master_ = -1;
  std::string shown_;
  std::size_t seen_ = 0;
};

}  // namespace cli_test
