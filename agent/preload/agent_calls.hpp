// What libjitquill.so does for us.
//
// Context   as each function's own (life/private_functions.hpp says where).
// Promises  nothing happens, and nothing is missed that keeps the host from starting, where an older
//           libjitquill.so came first.
#pragma once

#include <cstddef>

#include "agent/life/private_functions.hpp"

#pragma weak jitquill_private_v1

namespace jitquill::preload {

// `member`: a pointer to one of PrivateFunctions. Null where the agent has none of that name.
template <class Function>
Function* agent_function(Function* PrivateFunctions::*member) {
  if (&jitquill_private_v1 == nullptr) return nullptr;
  const auto* const at = reinterpret_cast<const unsigned char*>(&(jitquill_private_v1.*member));
  const auto* const begin = reinterpret_cast<const unsigned char*>(&jitquill_private_v1);
  const bool has_it = static_cast<unsigned long>(at - begin) < jitquill_private_v1.struct_size;
  return has_it ? jitquill_private_v1.*member : nullptr;
}

template <class... Parameters>
void call_agent(void (*PrivateFunctions::*member)(Parameters...), Parameters... arguments) {
  if (auto* const function = agent_function(member)) function(arguments...);
}

inline void let_agent_write() {
  call_agent(&PrivateFunctions::leave);
}
inline void let_agent_stay() {
  call_agent(&PrivateFunctions::stayed);
}
inline void let_agent_look() {
  call_agent(&PrivateFunctions::look_around);
}
inline void let_agent_see_memory(const void* address, std::size_t size, int file) {
  call_agent(&PrivateFunctions::made_executable, address, size, file);
}
inline void let_agent_attach(void* java_vm, bool is_live) {
  call_agent(&PrivateFunctions::attach_to_java, java_vm, is_live);
}

inline void let_agent_read_map(const char* path) {
  call_agent(&PrivateFunctions::own_map_opened, path);
}

}  // namespace jitquill::preload
