#include "agent/preload/next.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "agent/preload/agent_calls.hpp"

namespace jitquill::preload {
namespace {

template <class Function>
Function* found_next(const char* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// What is called before our constructor ran.
namespace early {

int failed(int error) noexcept {
  errno = error;
  return -1;
}

// libc's results and errno: syscall() sets them as the function itself would.
template <class... Arguments>
int kernel(long number, Arguments... arguments) noexcept {
  return static_cast<int>(::syscall(number, arguments...));
}

void _exit(int status) noexcept {
  for (;;) kernel(SYS_exit_group, status);
}

void _Exit(int status) noexcept {
  early::_exit(status);
}

int execve(const char* path, char* const argv[], char* const envp[]) noexcept {
  return kernel(SYS_execve, path, argv, envp);
}

int execv(const char* path, char* const argv[]) noexcept {
  return kernel(SYS_execve, path, argv, environ);
}

int execveat(int fd, const char* path, char* const argv[], char* const envp[], int flags) noexcept {
  return kernel(SYS_execveat, fd, path, argv, envp, flags);
}

int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  const bool is_whole = fd >= 0 && argv != nullptr && envp != nullptr;
  return is_whole ? kernel(SYS_execveat, fd, "", argv, envp, AT_EMPTY_PATH) : failed(EINVAL);
}

// These do more than one system call, and nobody may call them from signal handlers: so they are looked for.
template <class... Parameters, class... Arguments>
int looked_for(const char* name, std::atomic<int (*)(Parameters...)>&, Arguments... arguments) {
  auto* const found = found_next<int(Parameters...)>(name);
  return found != nullptr ? found(arguments...) : failed(ENOSYS);
}

int execvp(const char* file, char* const argv[]) {
  return looked_for("execvp", next.execvp, file, argv);
}

int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return looked_for("execvpe", next.execvpe, file, argv, envp);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
  auto* const found = found_next<decltype(::pthread_create)>("pthread_create");
  return found != nullptr ? found(thread, attributes, start, argument) : EAGAIN;
}

}  // namespace early

template <class Function>
void take(std::atomic<Function*>& next_one, const char* name) noexcept {
  if (auto* const found = found_next<Function>(name)) next_one.store(found, std::memory_order_relaxed);
}

[[gnu::constructor]] void on_load() {
#define NO_RETURN(name) take(next.name, #name);
#define PASSED_ON(name, parameters, arguments) take(next.name, #name);
#define LISTED(name, passed_to, arguments)
#define WAKES(name, returns, parameters, arguments) take(next.name, #name);
#include "agent/preload/borrowed.def"
#undef WAKES
#undef NO_RETURN
#undef PASSED_ON
#undef LISTED
  let_agent_look();
}

}  // namespace

constinit Next next = {
#define NO_RETURN(name) {&early::name},
#define PASSED_ON(name, parameters, arguments) {&early::name},
#define LISTED(name, passed_to, arguments)
#define WAKES(name, returns, parameters, arguments) {&early::name},
#include "agent/preload/borrowed.def"
#undef WAKES
#undef NO_RETURN
#undef PASSED_ON
#undef LISTED
};

}  // namespace jitquill::preload
