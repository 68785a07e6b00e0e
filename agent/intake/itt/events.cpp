#include "agent/intake/itt/events.hpp"

#include "agent/base/counters.hpp"
#include "agent/intake/itt/listener.hpp"

namespace jitquill::intake::itt {
namespace {

struct Event {
  unsigned number;
  void (Listener::*handle)(const Raw& raw);
  Layout layout;
};

constexpr Event kEvents[] = {
#define ITT_EVENT(number, handler, size, parent_at, class_at, file_at) \
  {number, &Listener::handler, {size, parent_at, class_at, file_at}},
#include "agent/intake/itt/events.def"
#undef ITT_EVENT
};

const Event* event_of(unsigned number) noexcept {
  for (const Event& event : kEvents) {
    if (event.number == number) return &event;
  }
  return nullptr;
}

}  // namespace

bool is_understood(unsigned number) noexcept {
  return event_of(number) != nullptr;
}

void hear(unsigned number, const void* of) {
  const Event* const event = event_of(number);
  if (event == nullptr) return;
  Raw raw;
  if (!raw.read(of, event->layout)) return count(Counter::itt_reports_broken);
  (listener().*event->handle)(raw);
}

}  // namespace jitquill::intake::itt
