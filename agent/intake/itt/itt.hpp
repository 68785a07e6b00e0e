// The intake of ITT emitters: what a runtime tells VTune of its code (docs/intake-itt.md). The static part of
// ITT in the runtime loads libjitquill-ittnotify.so (preload/ittnotify.cpp), which calls these.
//
// Context   [notify].
// Promises  code is in the outputs when notify() returns; only the tree of inlined methods, which are
//           reported one by one, follows with the thread's next report, or at the exit.
#pragma once

namespace jitquill::intake::itt {

// 1: reports are wanted. 0: none are, now and later.
unsigned initialize();
// `of`: the event's structure. Always 1: what was wrong with a report is nothing that its runtime could mend.
unsigned notify(unsigned event, const void* of);

}  // namespace jitquill::intake::itt
