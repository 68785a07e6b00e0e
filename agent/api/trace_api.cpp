// The C API's bodies for OpenJ9 traces: components of the runtime's own, their posts, records as they are
// finished.
#include <cstring>

#include "agent/api/code_argument.hpp"
#include "agent/lanes/lane.hpp"
#include "agent/life/agent.hpp"
#include "agent/life/record_tap.hpp"
#include "agent/life/trace_components.hpp"
#include "jitquill/trace.h"

namespace jitquill {
namespace {

constexpr std::size_t kMostNameRead = 128, kMostTextRead = 1024;  // more than the longest that is taken
constexpr std::uint32_t kMostPoints = 16'127;
constexpr std::uint32_t kFirstNumber = 1;  // 0 is no component

// Of points that are structs of whatever version, one behind the other.
TracePointText point_at(const void* from, std::size_t place) noexcept {
  const auto& info = *static_cast<const jitquill_trace_component_info*>(from);
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(info.points);
  jitquill_trace_point point;
  if (!read_struct(reinterpret_cast<const jitquill_trace_point*>(bytes + place * info.points->struct_size),
                   point))
    return {};
  return {text_of(point.name, kMostNameRead), text_of(point.text, kMostTextRead), point.type, point.level};
}

// A wrong pointer faults here, where nothing is held.
void fault_in(const jitquill_trace_component_info& info) noexcept {
  for (std::uint32_t i = 0; i < info.count && i <= kMostPoints; ++i) {
    const TracePointText point = point_at(&info, i);
    (void)static_cast<const volatile TracePointText&>(point).level;
  }
}

jitquill_status add(const jitquill_trace_component_info* argument, uint32_t* number, const char** why) {
  const char* fault = "an argument is NULL, or a struct_size 0";
  jitquill_trace_component_info info;
  const bool is_readable = number != nullptr && read_struct(argument, info) && info.name != nullptr &&
                           info.points != nullptr && info.points->struct_size != 0;
  Status status = Status::kBadArgument;
  if (is_readable) {
    const std::string_view name = text_of(info.name, kMostNameRead);
    fault_in(info);
    *number = 0;
    std::uint32_t index = TraceComponents::kMost;  // none
    status = with_agent(
        [&](Agent& a) {
          return a.add_trace_component(name, {info.count, point_at, &info}, index, fault);
        },
        [](Agent&) { return Status::kBusy; });
    const bool is_registered = status != Status::kBadArgument && trace_components().at(index) != nullptr &&
                               status != Status::kFull && status != Status::kBusy;
    if (is_registered) *number = kFirstNumber + index;
  }
  if (why != nullptr) *why = status == Status::kBadArgument ? fault : nullptr;
  return to_c(status);
}

TraceValue read(const jitquill_trace_value& value) noexcept {
  const auto kind = static_cast<TraceValue::Kind>(value.kind);
  if (kind != TraceValue::Kind::kText) return {kind, value.is.bits, {}};
  return {kind, 0, text_of(value.is.text, value.size)};
}

bool is_ready() {
  if (lanes::is_on()) return true;
  if (!agent().wants().is_known || !agent().wants().run_news) return false;
  (void)with_agent([](Agent& a) { return a.begin(); }, [](Agent&) { return Status::kBusy; });
  return lanes::is_on();
}

// [hook], once the lanes are on.
jitquill_status post(uint32_t number, uint32_t point, const jitquill_trace_value* values, size_t count) {
  const std::uint32_t index = number - kFirstNumber;
  const TraceComponent* const component = trace_components().at(index);
  if (component == nullptr || point >= component->size() || count > TraceComponent::kMostValues ||
      (values == nullptr && count != 0))
    return JITQUILL_BAD_ARGUMENT;
  if (component->level_of(point) > trace_components().level_of(index) || !is_ready()) return JITQUILL_OFF;
  TraceValue known[TraceComponent::kMostValues];
  for (std::size_t i = 0; i < count; ++i) known[i] = read(values[i]);
  std::uint8_t room[TraceComponent::kMostPayload];
  Bytes payload(room);
  const Status status = component->put(point, {known, count}, payload);
  if (!is_done(status)) return to_c(status);
  const auto bytes = payload.view();
  return lanes::post(kTracePointPost, bytes.data(), bytes.size()) ? to_c(status) : JITQUILL_NO_MEMORY;
}

// The same of memory that is written to: what lies there stays.
void fault_in_room(void* room, std::size_t size) noexcept {
  constexpr std::size_t kPageSize = 4096;
  auto* const bytes = static_cast<volatile std::uint8_t*>(room);
  const std::size_t used = std::min(size, record_tap::kMostHeader);
  for (std::size_t at = 0; at < used; at += kPageSize) bytes[at] = bytes[at];
  if (used != 0) bytes[used - 1] = bytes[used - 1];
}

jitquill_status metadata(void* bytes, size_t room, size_t* size) {
  if (size == nullptr || (bytes == nullptr && room != 0)) return JITQUILL_BAD_ARGUMENT;
  fault_in_room(bytes, room);
  return to_c(record_tap::metadata({static_cast<std::uint8_t*>(bytes), room}, *size));
}

void hand_over(std::uint64_t thread, const std::uint8_t* bytes, std::size_t size, void* function,
               void* context) {
  const jitquill_trace_record record{sizeof record, 0, bytes, size, thread};
  reinterpret_cast<jitquill_trace_taker*>(function)(&record, context);
}

jitquill_status subscribe(jitquill_trace_taker* take, void* context) {
  return to_c(record_tap::subscribe(hand_over, reinterpret_cast<void*>(take), context));
}

constexpr jitquill_trace_functions kFunctions = {
    sizeof(jitquill_trace_functions), 0, add, post, metadata, subscribe};

}  // namespace
}  // namespace jitquill

extern "C" const jitquill_trace_functions* jitquill_trace(void) {
  return &jitquill::kFunctions;
}
