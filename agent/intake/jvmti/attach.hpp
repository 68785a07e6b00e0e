// Makes us an agent of a Java VM, in either of two ways: a thread of ours waits until the VM can be attached
// to (the preload), or the VM itself calls (-agentpath, jcmd). Whichever is first.
//
// Context   attach_to_java(): the VM's thread that calls Agent_OnLoad or Agent_OnAttach. The other way is the
//           row of intakes.def.
// Promises  a VM has us once. The thread holds no lock while it waits, blocks asynchronous signals, and is
//           gone when the VM has told what it had, or when there is none after ten seconds.
#pragma once

namespace jitquill::intake::jvmti {

// `vm`: a JavaVM*. `is_live`: code was compiled already, and is to be told.
void attach_to_java(void* vm, bool is_live);

}  // namespace jitquill::intake::jvmti
