#include "agent/preload/next.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "agent/preload/agent_calls.hpp"
#include "agent/preload/own_map.hpp"

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

void* mmap(void* address, std::size_t size, int protection, int flags, int file, long offset) noexcept {
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, size, static_cast<long>(protection),
                                           static_cast<long>(flags), static_cast<long>(file), offset));
}

void* mmap64(void* address, std::size_t size, int protection, int flags, int file, long offset) noexcept {
  return early::mmap(address, size, protection, flags, file, offset);
}

int mprotect(void* address, std::size_t size, int protection) noexcept {
  return kernel(SYS_mprotect, address, size, static_cast<long>(protection));
}

int pkey_mprotect(void* address, std::size_t size, int protection, int key) noexcept {
  return kernel(SYS_pkey_mprotect, address, size, static_cast<long>(protection), static_cast<long>(key));
}

// Of the host's libgcc, which need not be among the libraries that the program started with. In a host
// without one nobody unwinds by it.
template <class Function>
Function* found_in_libgcc(const char* name) {
  if (auto* const found = found_next<Function>(name)) return found;
  void* const libgcc = ::dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return libgcc == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(libgcc, name));
}

void __register_frame(const void* section) {
  auto* const found = found_in_libgcc<void(const void*)>("__register_frame");
  if (found == nullptr) return;
  next.__register_frame.store(found);
  found(section);
}

void* __deregister_frame(const void* section) {
  auto* const found = found_in_libgcc<void*(const void*)>("__deregister_frame");
  if (found == nullptr) return nullptr;
  next.__deregister_frame.store(found);
  return found(section);
}

std::FILE* stream_looked_for(const char* name, const char* path, const char* mode) {
  auto* const found = found_next<std::FILE*(const char*, const char*)>(name);
  if (found == nullptr) errno = ENOSYS;
  return found != nullptr ? found(path, mode) : nullptr;
}

std::FILE* fopen(const char* path, const char* mode) {
  return stream_looked_for("fopen", path, mode);
}

std::FILE* fopen64(const char* path, const char* mode) {
  return stream_looked_for("fopen64", path, mode);
}

int openat(int folder, const char* path, int flags, unsigned mode) noexcept {
  return kernel(SYS_openat, folder, path, flags, mode);
}

int open(const char* path, int flags, unsigned mode) noexcept {
  return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, unsigned mode) noexcept {
  return openat(AT_FDCWD, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, unsigned mode) noexcept {
  return openat(folder, path, flags, mode);
}

int dlclose(void* handle) {
  return looked_for("dlclose", next.dlclose, handle);
}

pid_t fork() {
  return looked_for("fork", next.fork);
}

}  // namespace early

template <class Function>
void take(std::atomic<Function*>& next_one, const char* name) noexcept {
  if (auto* const found = found_next<Function>(name)) next_one.store(found, std::memory_order_relaxed);
}

[[gnu::constructor]] void on_load() {
  note_map_file();
#define BORROWED(name) take(next.name, #name);
#include "agent/preload/borrowed.def"
  let_agent_look();
}

}  // namespace

constinit Next next = {
#define BORROWED(name) {&early::name},
#include "agent/preload/borrowed.def"
};

}  // namespace jitquill::preload
