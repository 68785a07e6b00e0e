// What the host calls of libc and libgcc, and we look at: ways to leave the process that run no destructors,
// memory that becomes executable, threads, children, files that are opened, unwinding sections of JITs,
// objects that go.
//
// Context   as POSIX says of each name: all but execvp, execvpe, execlp, pthread_create, fopen, dlclose and
//           the unwinding sections also from signal handlers and in children of fork and vfork. What the
//           agent does then: life/leave.hpp, intake/lookout.hpp, intake/executable_memory.hpp,
//           intake/frames/frames.hpp, intake/perfmap/perfmap.hpp.
// Promises  the results and errno are libc's. No allocation, and no lookup once our constructor ran, but of
//           libgcc; the stack that the list of arguments takes is what libc itself would take for it.
// Does not  see what libc calls inside itself (posix_spawn, system, popen, daemon), nor bare system calls.
#include <alloca.h>
#include <sys/mman.h>

#include <cstdarg>
#include <cstddef>

#include "agent/preload/agent_calls.hpp"
#include "agent/preload/next.hpp"
#include "agent/preload/own_map.hpp"

namespace jitquill::preload {
namespace {

// The one thing that JITs do and allocators do not.
bool is_executable(int protection) {
  return (protection & PROT_EXEC) != 0;
}

// With the null pointer at their end.
std::size_t count_arguments(const char* first, std::va_list* rest) {
  std::size_t count = 1;
  for (const char* argument = first; argument != nullptr; ++count) argument = va_arg(*rest, const char*);
  return count;
}

// Leaves `rest` behind the null pointer.
void copy_arguments(const char* first, std::va_list* rest, char** to) {
  const char* argument = first;
  for (; argument != nullptr; argument = va_arg(*rest, const char*)) *to++ = const_cast<char*>(argument);
  *to = nullptr;
}

}  // namespace
}  // namespace jitquill::preload

// Under names of our own: libc's headers declare theirs with attributes that differ from name to name.
#define BORROWS(returns, name, parameters)                                                              \
  extern "C" [[gnu::visibility("default")]] returns jitquill_borrowed_##name parameters __asm__(#name); \
  returns jitquill_borrowed_##name parameters

#define NO_RETURN(name)                          \
  BORROWS(void, name, (int status)) {            \
    jitquill::preload::let_agent_write();        \
    jitquill::preload::next.name.load()(status); \
    __builtin_unreachable();                     \
  }

#define PASSED_ON(name, parameters, arguments)                        \
  BORROWS(int, name, parameters) {                                    \
    jitquill::preload::let_agent_write();                             \
    const int result = jitquill::preload::next.name.load() arguments; \
    jitquill::preload::let_agent_stay();                              \
    return result;                                                    \
  }

#define WAKES(name, returns, parameters, arguments)                           \
  BORROWS(returns, name, parameters) {                                        \
    jitquill::preload::let_agent_look();                                      \
    jitquill::preload::call_agent(&jitquill::PrivateFunctions::thread_comes); \
    return jitquill::preload::next.name.load() arguments;                     \
  }

#define LISTED(name, passed_to, arguments)                                                     \
  BORROWS(int, name, (const char* path, const char* first, ...)) {                             \
    std::va_list more;                                                                         \
    va_start(more, first);                                                                     \
    const std::size_t size = jitquill::preload::count_arguments(first, &more) * sizeof(char*); \
    va_end(more);                                                                              \
    char** const argv = static_cast<char**>(alloca(size));                                     \
    va_start(more, first);                                                                     \
    jitquill::preload::copy_arguments(first, &more, argv);                                     \
    jitquill::preload::let_agent_write();                                                      \
    const int result = jitquill::preload::next.passed_to.load() arguments;                     \
    jitquill::preload::let_agent_stay();                                                       \
    va_end(more);                                                                              \
    return result;                                                                             \
  }

#define STREAM(name)                                                           \
  BORROWS(std::FILE*, name, (const char* path, const char* mode)) {            \
    std::FILE* const stream = jitquill::preload::next.name.load()(path, mode); \
    jitquill::preload::let_agent_look();                                       \
    if (stream != nullptr) jitquill::preload::see_opened(path, mode, stream);  \
    return stream;                                                             \
  }

#define DESCRIPTOR(name, parameters, arguments)                           \
  BORROWS(int, name, parameters) {                                        \
    const int descriptor = jitquill::preload::next.name.load() arguments; \
    if (descriptor >= 0) jitquill::preload::see_opened(path, flags);      \
    return descriptor;                                                    \
  }

#define UNLOADS(name, parameters, arguments)                                  \
  BORROWS(int, name, parameters) {                                            \
    jitquill::preload::call_agent(&jitquill::PrivateFunctions::objects_go);   \
    const int result = jitquill::preload::next.name.load() arguments;         \
    jitquill::preload::call_agent(&jitquill::PrivateFunctions::objects_went); \
    return result;                                                            \
  }

#define FORKS(name)                                                                         \
  BORROWS(pid_t, name, ()) {                                                                \
    const pid_t child = jitquill::preload::next.name.load()();                              \
    if (child == 0) jitquill::preload::call_agent(&jitquill::PrivateFunctions::child_came); \
    return child;                                                                           \
  }

#define MAPPED(name, parameters, arguments)                                                            \
  BORROWS(void*, name, parameters) {                                                                   \
    void* const memory = jitquill::preload::next.name.load() arguments;                                \
    if (jitquill::preload::is_executable(protection) && memory != MAP_FAILED)                          \
      jitquill::preload::let_agent_see_memory(memory, size, (flags & MAP_ANONYMOUS) != 0 ? -1 : file); \
    return memory;                                                                                     \
  }

#define PROTECTED(name, parameters, arguments)                        \
  BORROWS(int, name, parameters) {                                    \
    const int result = jitquill::preload::next.name.load() arguments; \
    if (jitquill::preload::is_executable(protection) && result == 0)  \
      jitquill::preload::let_agent_see_memory(address, size, -1);     \
    return result;                                                    \
  }

#define REGISTERED(name, tell)                                                 \
  BORROWS(void, name, (const void* section)) {                                 \
    jitquill::preload::next.name.load()(section);                              \
    jitquill::preload::call_agent(&jitquill::PrivateFunctions::tell, section); \
  }

#define DEREGISTERED(name, tell)                                               \
  BORROWS(void*, name, (const void* section)) {                                \
    jitquill::preload::call_agent(&jitquill::PrivateFunctions::tell, section); \
    return jitquill::preload::next.name.load()(section);                       \
  }

#include "agent/preload/borrowed.def"
