/* Stands where OProfile's own library would: programs are linked with it, and run with ours in its place. */
#include "opagent.h"

static char agent;

op_agent_t op_open_agent(void) {
  return &agent;
}

int op_close_agent(op_agent_t handle) {
  return handle == &agent ? 0 : -1;
}

int op_write_native_code(op_agent_t handle, char const* name, uint64_t vma, void const* code,
                         unsigned int size) {
  (void)name, (void)vma, (void)code, (void)size;
  return handle == &agent ? 0 : -1;
}

int op_write_debug_line_info(op_agent_t handle, void const* code, size_t count,
                             struct debug_line_info const* lines) {
  (void)code, (void)count, (void)lines;
  return handle == &agent ? 0 : -1;
}

int op_unload_native_code(op_agent_t handle, uint64_t vma) {
  (void)vma;
  return handle == &agent ? 0 : -1;
}

int op_major_version(void) {
  return 1;
}

int op_minor_version(void) {
  return 0;
}
