// The intake `v8`: hears of each isolate when it is made, and of all its code from then on.
//
// V8 tells of code whoever asks (Isolate::SetJitCodeEventHandler), but each isolate is to be asked, and its
// own thread must do it. All come into being in Isolate::Initialize, on that thread: node's main one, those
// of workers, those of any other program with V8 in it. So calls of it come to us first (detour.hpp).
//
// Tried and not taken: NODE_OPTIONS with --require of a file that loads an addon. It is seen by the program
// (process.env, its children), comes after node's own start, costs the loading of a module, and is node's.
//
// Context   look, start: as intake.hpp says. The rest: a thread that makes an isolate.
#include <string_view>

#include "agent/base/counters.hpp"
#include "agent/base/elf_object.hpp"
#include "agent/intake/detour.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/intake/told.hpp"
#include "agent/intake/v8/listener.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {
namespace v8 {
namespace {

constexpr int kOnlyNew = 0;  // all code of an isolate that has run nothing is V8's own, in the file

constinit Listener g_listener(Tell{&tell_load, &tell_move, &tell_unload});
constinit Engine g_found;  // under the intakes' lock
constinit bool g_is_done = false;
constinit decltype(Engine::initialize) g_initialize = nullptr;

void handle(const CodeEvent* event) {
  if (event != nullptr && wants_code()) g_listener.hear(*const_cast<CodeEvent*>(event));
}

// Positions in detail cost V8 no code, only tables: without them only calls have one.
void listen_to(void* isolate) {
  look_for_own_dump();
  if (is_left_to_own_dump()) return count(Counter::v8_left_alone);
  const Engine& engine = g_listener.engine();
  if (engine.detail_positions != nullptr) engine.detail_positions(isolate);
  engine.set_handler(isolate, kOnlyNew, &handle);
  count(Counter::v8_isolates);
}

void initialize(void* isolate, const void* parameters) {
  g_initialize(isolate, parameters);
  if (wants_code()) listen_to(isolate);
}

void leave_alone(std::string_view why) {
  count(Counter::v8_left_alone);
  remark(why);
}

}  // namespace
}  // namespace v8

bool look_for_v8(const ElfObject& object) {
  return !v8::g_is_done && v8::look_for(object, v8::g_found);
}

void start_v8() {
  v8::g_is_done = true;  // one in a process, and tried once
  if (!v8::is_known_version(v8::g_found.version()))
    return v8::leave_alone("v8: this version of V8 is not known, so its code has no names");
  v8::g_listener.use(v8::g_found);
  if (!detour(v8::g_found.initialize, &v8::initialize, v8::g_initialize))
    v8::leave_alone("v8: Isolate::Initialize cannot be patched, so V8's code has no names");
}

}  // namespace jitquill::intake
