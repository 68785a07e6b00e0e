// libopagent.so.1: what programs written for OProfile's agent library are linked with, in the place of
// OProfile's own (docs/intake-opagent.md).
//
// Context   [notify]: a thread of the runtime, its locks may be held.
// Promises  each function answers as OProfile's does where nothing goes wrong: whether anything is written
//           is not the program's to know. No file of OProfile's is made.
// Does not  know what is done with the code: intake/opagent/opagent.hpp.
#include <cerrno>

#include "agent/preload/agent_calls.hpp"

using jitquill::PrivateFunctions;
using jitquill::preload::call_agent;

#define SHOWN extern "C" [[gnu::visibility("default")]]

namespace {

char g_handle;  // there, a FILE

int no_handle() {
  errno = EINVAL;
  return -1;
}

}  // namespace

SHOWN void* op_open_agent() {
  return &g_handle;
}

SHOWN int op_close_agent(void* handle) {
  return handle == &g_handle ? 0 : no_handle();
}

SHOWN int op_write_native_code(void* handle, const char* name, std::uint64_t address, const void* code,
                               unsigned size) {
  if (handle != &g_handle || name == nullptr) return no_handle();
  call_agent(&PrivateFunctions::opagent_code, name, address, code, size);
  return 0;
}

// `rows`: struct debug_line_info.
SHOWN int op_write_debug_line_info(void* handle, const void* code, std::size_t count, const void* rows) {
  if (handle != &g_handle) return no_handle();
  call_agent(&PrivateFunctions::opagent_lines, code, count, rows);
  return 0;
}

SHOWN int op_unload_native_code(void* handle, std::uint64_t address) {
  if (handle != &g_handle) return no_handle();
  call_agent(&PrivateFunctions::opagent_unload, address);
  return 0;
}

SHOWN int op_major_version() {
  return 1;
}

SHOWN int op_minor_version() {
  return 0;
}
