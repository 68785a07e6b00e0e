// Every function of the exec family behind one form, by its name.
//
// Context   host programs; async-signal-safe where the function is.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

struct ExecWay {
  const char* name;
  // argv: a name, one argument, null. Where the function takes no environment, environ stays.
  int (*call)(const char* path, char* const argv[], char* const envp[]);
};

inline constexpr ExecWay kExecWays[] = {
    {"execve",
     [](const char* path, char* const argv[], char* const envp[]) { return execve(path, argv, envp); }},
    {"execv", [](const char* path, char* const argv[], char* const[]) { return execv(path, argv); }},
    {"execvp", [](const char* path, char* const argv[], char* const[]) { return execvp(path, argv); }},
    {"execvpe",
     [](const char* path, char* const argv[], char* const envp[]) { return execvpe(path, argv, envp); }},
    {"execl", [](const char* path, char* const argv[],
                 char* const[]) { return execl(path, argv[0], argv[1], nullptr); }},
    {"execlp", [](const char* path, char* const argv[],
                  char* const[]) { return execlp(path, argv[0], argv[1], nullptr); }},
    {"execle", [](const char* path, char* const argv[],
                  char* const envp[]) { return execle(path, argv[0], argv[1], nullptr, envp); }},
    {"fexecve", [](const char* path, char* const argv[],
                   char* const envp[]) { return fexecve(open(path, O_PATH | O_CLOEXEC), argv, envp); }},
    {"execveat", [](const char* path, char* const argv[],
                    char* const envp[]) { return execveat(AT_FDCWD, path, argv, envp, 0); }},
};

// Null if there is none of that name.
inline const ExecWay* exec_way(const char* name) {
  for (const ExecWay& way : kExecWays) {
    if (std::strcmp(way.name, name) == 0) return &way;
  }
  return nullptr;
}
