// What libjitquill.so shows to the libraries that are built and installed with it, and to nobody else.
//
// Context   as each function says.
// Promises  members are only ever added at the end; the name changes with anything else. So libraries of two
//           builds that meet in one process (LD_LIBRARY_PATH) do no harm.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jitquill {

struct PrivateFunctions {
  std::uint32_t struct_size;
  std::uint32_t reserved;
  void (*leave)();                                                           // life/leave.hpp
  void (*look_around)();                                                     // intake/lookout.hpp
  void (*attach_to_java)(void* vm, bool is_live);                            // intake/jvmti/attach.hpp
  void (*made_executable)(const void* address, std::size_t size, int file);  // intake/executable_memory.hpp
  void (*frames_came)(const void* section);                                  // intake/frames/frames.hpp
  void (*frames_went)(const void* section);
  unsigned (*itt_initialize)();  // intake/itt/itt.hpp
  unsigned (*itt_notify)(unsigned event, const void* of);
  void (*own_map_opened)(const char* path);  // intake/perfmap/perfmap.hpp
  void (*stayed)();                          // life/leave.hpp
  // life/native_hooks.hpp. `count` targets, in the order of life/native_hooks.def; they live as long as we
  // do.
  void (*native_names_shown)(std::atomic<const void*>* targets, std::uint32_t count);
  void (*objects_go)();  // life/native_hooks.hpp
  void (*objects_went)();
  // intake/opagent/opagent.hpp
  void (*opagent_code)(const char* name, std::uint64_t address, const void* bytes, std::uint32_t size);
  void (*opagent_lines)(const void* bytes, std::size_t count, const void* rows);
  void (*opagent_unload)(std::uint64_t address);
  void (*child_came)();  // life/native_hooks.hpp
  void (*thread_comes)();
};

}  // namespace jitquill

extern "C" [[gnu::visibility("default")]] const jitquill::PrivateFunctions jitquill_private_v1;
