// The C API's bodies: arguments checked, the agent entered, a status handed back. Not noexcept: a
// cancellation that waits for us acts at the end of with_agent() and unwinds through here.
#include "agent/api/code_argument.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/fault_in.hpp"
#include "agent/hooks/sites.hpp"
#include "agent/life/agent.hpp"
#include "agent/unwinders/registry.hpp"
#include "jitquill/events.h"
#include "jitquill/trace.h"
#include "writer/unwind/blob.hpp"

namespace jitquill {
namespace {

// Answers without entering: the price of a call whose news nobody wants.
Status unwanted() noexcept {
  return agent().wants().is_stopped ? Status::kStopped : Status::kOff;
}

Status announce(CodeLoad& load) {
  return with_agent([&](Agent& a) { return a.load(load); }, [&](Agent& a) { return a.queue_load(load); });
}

// As fault_in() of a load, but only the agent knows how much of it there is.
void fault_in_moved(const CodeMove& move) {
  std::uint64_t size = 0;
  (void)with_agent(
      [&](Agent& a) {
        size = a.size_to_move(move.from);
        return Status::kOk;
      },
      [](Agent&) { return Status::kOk; });
  fault_in({reinterpret_cast<const std::uint8_t*>(move.to), static_cast<std::size_t>(size)});
  sites::touch(move.writable, size);
}

// What the flag asks for does not depend on outputs.
bool asks_to_register(const jitquill_code* argument) noexcept {
  jitquill_code code;
  return read_struct(argument, code) && (code.flags & JITQUILL_CODE_REGISTER) != 0;
}

// The news first, then the host's unwinders, which may not be called under the leaf lock. One guest_call()
// around both: a cancellation waits for the end of all.
Status announce_and_register(CodeLoad& load) {
  return guest_call([&] {
    const Unwinding unwinding = load.unwinding;  // outputs may leave it out
    const std::uint64_t size = load.bytes.size();
    const Status status = agent().wants().code ? announce(load) : unwanted();
    if (status == Status::kQueued) {
      count(Counter::registrations_refused);
      return load.registers_unwinding ? Status::kNotRegistered : status;
    }
    if (!load.registers_unwinding) {
      unwinders::registry().end_overlapped(load.address, size);
      return status;
    }
    const bool is_registered = unwinders::registry().load(unwinding, load.address, size);
    return is_registered || !is_done(status) ? status : Status::kNotRegistered;
  });
}

// Runs news(), then register_too() unless the news waits for an outer call to end.
template <class News, class RegisterToo>
Status tell_both(News news, RegisterToo register_too) {
  if (!unwinders::registry().has_any()) return news();
  return guest_call([&] {
    const Status status = news();
    if (status == Status::kQueued) {
      count(Counter::registrations_refused);
    } else {
      register_too(unwinders::registry());
    }
    return status;
  });
}

}  // namespace
}  // namespace jitquill

using namespace jitquill;

extern "C" {

jitquill_status jitquill_start(const jitquill_start_options* options) {
  jitquill_start_options given = {};
  if (options != nullptr && !read_struct(options, given)) return JITQUILL_BAD_ARGUMENT;
  const std::string_view text =
      given.options == nullptr ? std::string_view{} : std::string_view{given.options};
  return to_c(with_agent([&](Agent& a) { return a.start(text); }, [](Agent&) { return Status::kBusy; }));
}

jitquill_status jitquill_stop(void) {
  return to_c(with_agent([](Agent& a) { return a.stop(); }, [](Agent&) { return Status::kBusy; }));
}

int jitquill_wants_code(void) {
  return agent().wants().code ? 1 : 0;
}

const char* jitquill_output_folder(void) {
  return agent().output_folder();
}

jitquill_status jitquill_code_loaded(const jitquill_code* code, uint64_t* id) {
  if (id != nullptr) *id = 0;
  if (!agent().wants().code && !asks_to_register(code)) return to_c(unwanted());
  CodeLoad load;
  if (const Status read = read_code(code, load); read != Status::kOk) {
    count(Counter::functions_refused);
    return to_c(read);
  }
  fault_in(load);  // before anything is held, the host's signals included
  sites::touch(load);
  const bool is_about_unwinders = load.registers_unwinding || unwinders::registry().has_any();
  const Status status = is_about_unwinders ? announce_and_register(load) : announce(load);
  if (id != nullptr && is_done(status)) *id = load.id;
  return to_c(status);
}

jitquill_status jitquill_code_unloaded(const void* addr) {
  CodeUnload unload;
  unload.address = reinterpret_cast<std::uint64_t>(addr);
  const auto news = [&] {
    if (!agent().wants().code) return unwanted();
    return with_agent([&](Agent& a) { return a.unload(unload); },
                      [&](Agent& a) { return a.queue_unload(unload); });
  };
  return to_c(tell_both(news, [&](unwinders::Registry& registry) { registry.unload(unload.address); }));
}

jitquill_status jitquill_code_moved(const void* from, const void* to, size_t room) {
  return jitquill_code_moved_to(from, to, room, nullptr);
}

jitquill_status jitquill_code_moved_to(const void* from, const void* to, size_t room, void* writable) {
  if (to == nullptr) return JITQUILL_BAD_ARGUMENT;
  CodeMove move;
  move.writable = static_cast<std::uint8_t*>(writable);
  move.from = reinterpret_cast<std::uint64_t>(from);
  move.to = reinterpret_cast<std::uint64_t>(to);
  move.room = clamped_room(room);
  fault_in_moved(move);
  const std::uint64_t old_place = move.from, new_place = move.to;
  const auto news = [&] {
    if (!agent().wants().code) return unwanted();
    return with_agent([&](Agent& a) { return a.move(move); }, [&](Agent& a) { return a.queue_move(move); });
  };
  return to_c(tell_both(news, [&](unwinders::Registry& registry) { registry.move(old_place, new_place); }));
}

size_t jitquill_unwinding_size(const jitquill_code* code) {
  Unwinding unwinding;
  std::uint64_t code_size = 0;
  unwind::BlobSizes sizes;
  if (!agent().wants().unwinding || !read_unwinding(code, unwinding, code_size)) return 0;
  if (unwind::measure_blob(unwinding, code_size, false, sizes) != Status::kOk) return 0;
  return unwind::tail_size(code_size, sizes);
}

jitquill_status jitquill_statistic_at(size_t index, jitquill_statistic* out) {
  if (out == nullptr || out->struct_size < sizeof(std::uint32_t)) return JITQUILL_BAD_ARGUMENT;
  if (index >= kCounters) return JITQUILL_NOT_FOUND;
  jitquill_statistic row = {};
  row.struct_size = out->struct_size;
  row.name = kCounterRows[index].name;
  row.meaning = kCounterRows[index].meaning;
  row.value = counted(index);
  write_struct(row, out);
  return JITQUILL_OK;
}

const jitquill_functions jitquill_functions_v1 = {sizeof(jitquill_functions), 0,
#define JITQUILL_ADDRESS(ret, name, params, args, otherwise) &name,
                                                  JITQUILL_EACH_FUNCTION(JITQUILL_ADDRESS)
#undef JITQUILL_ADDRESS
};

}  // extern "C"
