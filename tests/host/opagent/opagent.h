/* The interface of OProfile's agent library, version 1.0, as its specification has it: what programs that are
   written for it see. */
#ifndef OPAGENT_H
#define OPAGENT_H

#include <stddef.h>
#include <stdint.h>

typedef void* op_agent_t;

struct debug_line_info {
  unsigned long vma;
  unsigned int lineno;
  char const* filename;
};

op_agent_t op_open_agent(void);
int op_close_agent(op_agent_t handle);
int op_write_native_code(op_agent_t handle, char const* name, uint64_t vma, void const* code,
                         unsigned int size);
int op_write_debug_line_info(op_agent_t handle, void const* code, size_t count,
                             struct debug_line_info const* lines);
int op_unload_native_code(op_agent_t handle, uint64_t vma);
int op_major_version(void);
int op_minor_version(void);

#endif
