// Who would have been called without us: libc, or the next library that borrows the same name. A list of
// arguments cannot be passed on: execl(), execlp() and execle() go to the next execv(), execvp() and
// execve().
//
// Context   any, signal handlers and children of vfork too: a load.
// Promises  whole at every moment. What is async-signal-safe goes straight to the kernel until our
//           constructor has asked the loader, which may be after constructors of other libraries. libgcc may
//           come later than we do: it is looked for when it is needed.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdio>

namespace jitquill::preload {

struct Next {
#define NO_RETURN(name) std::atomic<void (*)(int status)> name;
#define PASSED_ON(name, parameters, arguments) std::atomic<int(*) parameters> name;
#define LISTED(name, passed_to, arguments)
#define WAKES(name, returns, parameters, arguments) std::atomic<returns(*) parameters> name;
#define MAPPED(name, parameters, arguments) std::atomic<void*(*)parameters> name;
#define PROTECTED(name, parameters, arguments) std::atomic<int(*) parameters> name;
#define REGISTERED(name, tell) std::atomic<void (*)(const void* section)> name;
#define DEREGISTERED(name, tell) std::atomic<void* (*)(const void* section)> name;
#define STREAM(name) std::atomic<std::FILE* (*)(const char* path, const char* mode)> name;
#define DESCRIPTOR(name, parameters, arguments) std::atomic<int(*) parameters> name;
#define UNLOADS(name, parameters, arguments) std::atomic<int(*) parameters> name;
#define FORKS(name) std::atomic<pid_t (*)()> name;
#include "agent/preload/borrowed.def"
};

extern constinit Next next;

}  // namespace jitquill::preload
