// What libjitquill.so does for us.
//
// Context   as each function's own: life/leave.hpp, intake/lookout.hpp.
// Promises  nothing happens, and nothing is missed that keeps the host from starting, where an older
//           libjitquill.so came first.
#pragma once

#include "agent/life/private_functions.hpp"

#pragma weak jitquill_private_v1

namespace jitquill::preload {

// `member`: a pointer to one of PrivateFunctions.
template <class Member>
void call_agent(Member member) {
  if (&jitquill_private_v1 == nullptr) return;
  const auto* const at = reinterpret_cast<const unsigned char*>(&(jitquill_private_v1.*member));
  const auto* const begin = reinterpret_cast<const unsigned char*>(&jitquill_private_v1);
  if (static_cast<unsigned long>(at - begin) < jitquill_private_v1.struct_size)
    (jitquill_private_v1.*member)();
}

inline void let_agent_write() {
  call_agent(&PrivateFunctions::leave);
}
inline void let_agent_look() {
  call_agent(&PrivateFunctions::look_around);
}

}  // namespace jitquill::preload
