// What a VM tells us of its code, once we have subscribed.
//
// Context   subscribe(), replay(): a thread that the VM knows, or its start; no lock held. The events:
//           threads of the VM, compilers among them; the VM is asked for names meanwhile, without a lock of
//           ours.
// Promises  no event is passed on after the VM has announced its death.
#pragma once

#include "agent/intake/jvmti/interface.hpp"

namespace jitquill::intake::jvmti {

// False: the VM refuses.
bool subscribe(Env& env);
// Has the VM tell what it told nobody before; only in its live phase.
void replay(Env& env);

}  // namespace jitquill::intake::jvmti
