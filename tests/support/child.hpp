// Starts a program and waits for it: its outputs go to files, so that no pipe can fill.
//
// Context   tests.
// Promises  a child that outlives its time is killed and reported as such; none is left behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/temp_folder.hpp"

namespace test_support {

struct Command {
  std::vector<std::string> words;                                // the program first, sought in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // beside what is inherited
  std::string folder;                                            // where it starts; empty = here
};

struct Ended {
  int exit_code = -1;  // -1: ended by a signal
  int signal = 0;
  bool timed_out = false;
  std::string out;
  std::string err;

  bool succeeded() const { return exit_code == 0; }
  std::string describe() const;  // for failure messages
};

class Child {
 public:
  explicit Child(const Command& command);
  ~Child();  // kills and reaps
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  Ended wait(int seconds);

 private:
  TempFolder outputs_;
  pid_t pid_ = -1;
  bool reaped_ = false;
};

Ended run(const Command& command, int seconds = 60);

}  // namespace test_support
