// What libjitquill.so does for us.
//
// Context   as each function's own: life/leave.hpp, intake/lookout.hpp, intake/executable_memory.hpp,
//           intake/jvmti/attach.hpp.
// Promises  nothing happens, and nothing is missed that keeps the host from starting, where an older
//           libjitquill.so came first.
#pragma once

#include <cstddef>

#include "agent/life/private_functions.hpp"

#pragma weak jitquill_private_v1

namespace jitquill::preload {

// `member`: a pointer to one of PrivateFunctions.
template <class... Parameters>
void call_agent(void (*PrivateFunctions::*member)(Parameters...), Parameters... arguments) {
  if (&jitquill_private_v1 == nullptr) return;
  const auto* const at = reinterpret_cast<const unsigned char*>(&(jitquill_private_v1.*member));
  const auto* const begin = reinterpret_cast<const unsigned char*>(&jitquill_private_v1);
  if (static_cast<unsigned long>(at - begin) < jitquill_private_v1.struct_size)
    (jitquill_private_v1.*member)(arguments...);
}

inline void let_agent_write() {
  call_agent(&PrivateFunctions::leave);
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

}  // namespace jitquill::preload
