#include "agent/life/private_functions.hpp"

#include "agent/intake/executable_memory.hpp"
#include "agent/intake/frames/frames.hpp"
#include "agent/intake/itt/itt.hpp"
#include "agent/intake/jvmti/attach.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/opagent/opagent.hpp"
#include "agent/intake/perfmap/perfmap.hpp"
#include "agent/life/leave.hpp"
#include "agent/life/native_hooks.hpp"

extern "C" const jitquill::PrivateFunctions jitquill_private_v1 = {
    .struct_size = sizeof(jitquill::PrivateFunctions),
    .reserved = 0,
    .leave = &jitquill::leave,
    .look_around = &jitquill::intake::look_around,
    .attach_to_java = &jitquill::intake::jvmti::attach_to_java,
    .made_executable = &jitquill::intake::made_executable,
    .frames_came = &jitquill::frames::came,
    .frames_went = &jitquill::frames::went,
    .itt_initialize = &jitquill::intake::itt::initialize,
    .itt_notify = &jitquill::intake::itt::notify,
    .own_map_opened = &jitquill::intake::perfmap::opened,
    .stayed = &jitquill::stayed,
    .native_names_shown = &jitquill::native_names_shown,
    .objects_go = &jitquill::objects_go,
    .objects_went = &jitquill::objects_went,
    .opagent_code = &jitquill::intake::opagent::code,
    .opagent_lines = &jitquill::intake::opagent::lines,
    .opagent_unload = &jitquill::intake::opagent::unload,
    .child_came = &jitquill::child_came,
    .thread_comes = &jitquill::thread_comes,
};
