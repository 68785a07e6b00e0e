// The C API's bodies for run news: which functions are traced, what an interpreter enters and leaves, posts.
#include <cstring>

#include "agent/api/code_argument.hpp"
#include "agent/base/counters.hpp"
#include "agent/hooks/mirror.hpp"
#include "agent/hooks/sites.hpp"
#include "agent/lanes/lane.hpp"
#include "agent/life/agent.hpp"
#include "jitquill/events.h"
#include "writer/bytes/names.hpp"

namespace jitquill {
namespace {

constexpr std::uint32_t kFirstOfTheAgent = 0xFF00;  // lanes/layout.hpp
static_assert(JITQUILL_POST_MOST <= lanes::kMostPayload);

// A call before our constructor ran, as from another library's.
void read_options() {
  if (agent().wants().is_known) return;
  (void)with_agent([](Agent&) { return Status::kOk; }, [](Agent&) { return Status::kOk; });
}

// [hook], as jitquill_post() and jitquill_stack().
jitquill_status put(lanes::RecordKind kind, std::uint64_t id, std::uint64_t key) noexcept {
  if (id == 0) return JITQUILL_OK;
  if (id > lanes::kLow48) return JITQUILL_BAD_ARGUMENT;
  if (!lanes::is_on()) return JITQUILL_OFF;
  lanes::put(kind, id, static_cast<std::uint32_t>(key) & lanes::kSlotMask);
  return JITQUILL_OK;
}

// What a runtime posts may be the first that the agent hears of it.
bool is_ready() {
  if (lanes::is_on()) return true;
  read_options();
  if (!agent().wants().run_news) return false;
  (void)with_agent([](Agent& a) { return a.begin(); }, [](Agent&) { return Status::kBusy; });
  return lanes::is_on();
}

bool shows_events() noexcept {
  return __atomic_load_n(agent().wanted_events(), __ATOMIC_RELAXED) != 0;
}

// Of at most two pages. A wrong pointer faults here, where nothing is reserved.
void fault_in_payload(const void* payload, std::size_t size) noexcept {
  if (size == 0) return;
  const auto* const bytes = static_cast<const volatile std::uint8_t*>(payload);
  (void)bytes[0];
  (void)bytes[size - 1];
}

// [hook], once the lanes are on.
jitquill_status post(std::uint32_t event, const void* payload, std::size_t size, std::string_view text) {
  if (event >= kFirstOfTheAgent || (payload == nullptr && size != 0)) return JITQUILL_BAD_ARGUMENT;
  if (size > JITQUILL_POST_MOST) return JITQUILL_TOO_LARGE;
  if (!lanes::is_on()) read_options();
  if (!shows_events() || !is_ready()) return JITQUILL_OFF;
  fault_in_payload(payload, size);
  const bool is_taken = lanes::post(event, {static_cast<const std::uint8_t*>(payload), size,
                                            reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return is_taken ? JITQUILL_OK : JITQUILL_NO_MEMORY;
}

}  // namespace
}  // namespace jitquill

using namespace jitquill;

extern "C" {

int jitquill_wants_sites(void) {
  read_options();
  return agent().wants().sites ? 1 : 0;
}

const void* jitquill_site_hook(jitquill_site_kind kind) {
  read_options();
  return sites::hook(kind, agent().wants().stacks);
}

jitquill_status jitquill_set_hooks(const char* patterns) {
  const std::string_view list = text_of(patterns, NamePatterns::kMostBytes + 1);
  return to_c(with_agent([&](Agent& a) { return a.set_hooks(list); }, [](Agent&) { return Status::kBusy; }));
}

jitquill_status jitquill_function(const jitquill_function_info* function, uint64_t* id) {
  if (id == nullptr) return JITQUILL_BAD_ARGUMENT;
  *id = 0;
  jitquill_function_info info;
  if (!read_struct(function, info) || info.name == nullptr) return JITQUILL_BAD_ARGUMENT;
  read_options();
  if (!agent().wants().sites) return agent().wants().is_stopped ? JITQUILL_STOPPED : JITQUILL_OFF;
  const NamedFunction named{
      .name = text_of(info.name, kNameToRead), .file = text_of(info.file, kNameToRead), .line = info.line};
  return to_c(
      with_agent([&](Agent& a) { return a.add_function(named, *id); }, [](Agent&) { return Status::kBusy; }));
}

jitquill_status jitquill_enter(uint64_t id, uint64_t frame_key) {
  return put(lanes::RecordKind::kEnterKey, id, frame_key);
}

jitquill_status jitquill_leave(uint64_t id, uint64_t frame_key) {
  return put(lanes::RecordKind::kLeaveKey, id, frame_key);
}

jitquill_status jitquill_post(uint32_t event, const void* payload, size_t size) {
  return post(event, payload, size, {});
}

jitquill_status jitquill_post_text(uint32_t event, const void* fields, size_t size, const char* text,
                                   size_t most) {
  if (size > JITQUILL_POST_MOST) return JITQUILL_TOO_LARGE;
  const std::size_t room = JITQUILL_POST_MOST - size;
  const std::string_view all = text_of(text, most < room + 1 ? most : room + 1);
  const std::string_view whole = first_characters(all, room);
  const jitquill_status status = post(event, fields, size, whole);
  if (status != JITQUILL_OK || whole.size() == all.size()) return status;
  count(Counter::event_texts_cut);
  return JITQUILL_TEXT_CUT;
}

const uint32_t* jitquill_wanted_events(void) {
  return agent().wanted_events();
}

const void* jitquill_return_address(const void* found, const void* slot) {
  return reinterpret_cast<const void*>(
      mirror::return_address(reinterpret_cast<std::uint64_t>(found), reinterpret_cast<std::uint64_t>(slot)));
}

jitquill_status jitquill_stack(const void* low, const void* high) {
  if (low >= high) return JITQUILL_BAD_ARGUMENT;
  if (!is_ready()) return JITQUILL_OFF;
  lanes::put_stack(reinterpret_cast<std::uint64_t>(low), reinterpret_cast<std::uint64_t>(high));
  return JITQUILL_OK;
}

}  // extern "C"
