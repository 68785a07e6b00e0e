// Tells whether a signal that reached us went to our whole process group: then the host has had it too.
//
// A signal that kill() sends does not say whom it was for. So a process of the group that does nothing else
// keeps every signal pending, and the kernel shows which.
//
// Promises  it holds no descriptor of the host's, and goes when we go, however that happens.
// Does not  tell of SIGKILL and SIGSTOP, which nobody can hold back.
#pragma once

#include <sys/types.h>

namespace jitquill::cli {

class GroupWatch {
 public:
  GroupWatch();
  ~GroupWatch();
  GroupWatch(const GroupWatch&) = delete;
  GroupWatch& operator=(const GroupWatch&) = delete;

  // Asked once for each signal that was taken. False where that cannot be told.
  bool was_for_group(int signal) const;

 private:
  pid_t process_ = -1;
  int wire_ = -1;  // a byte there: let go of what is pending; a byte back: done
};

}  // namespace jitquill::cli
