// Runs the host: starts it, hands on the signals that are meant for it, waits for its end.
//
// The host stays in our process group and in the foreground, so that pipes, the terminal and job control
// work as without us. ^C and ^Z reach it by themselves; a signal that was sent to us alone is handed on.
//
// Promises  the host's descriptors, mask and dispositions are those that we were given.
#pragma once

#include <string>
#include <vector>

namespace jitquill::cli {

struct HostCommand {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=value, over ours
};

struct HostEnd {
  int exec_error = 0;  // it could not be started; as errno
  int exit_code = 0;
  int signal = 0;  // that killed it; 0 = none
};

HostEnd run_host(const HostCommand& command);

// Ends us as the host ended: with its exit code, or by its signal (without a second core), so that a shell
// sees what it would have seen. Not after a failed start.
[[noreturn]] void end_as(const HostEnd& end);

}  // namespace jitquill::cli
