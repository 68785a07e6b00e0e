// The eventlog sink's part that takes what runtimes tell: whether it can be, and what it names in the log.
#include "writer/eventlog/sink.hpp"

namespace jitquill::eventlog {
namespace {

using Kind = RuntimeEventKind;

constexpr bool is_of_thread(Kind kind) noexcept {
  return kind < Kind::kCapabilityCreated;
}
constexpr bool is_of_capability(Kind kind) noexcept {
  return kind >= Kind::kCapabilityCreated && kind <= Kind::kCapabilityLeft;
}
constexpr bool is_of_collection(Kind kind) noexcept {
  return kind == Kind::kGcBegin || (kind >= Kind::kGcSynced && kind <= Kind::kGcEnd);
}
// ThreadScope ends where some of these are in no capability's block, and shows none of them.
bool needs_capability(Kind kind) noexcept {
  return where(kind) == Where::kCapability && kind < Kind::kRuntimeNamed;
}

}  // namespace

void EventlogSink::put_post(const Here& here, const Post& post) noexcept {
  Worker& worker = here.worker;
  const RuntimeEvent event(post);
  const std::uint64_t when_ns = worker.last_ns;
  if (event.row() == nullptr) {
    if (own_) here.log.put<Event::kRuntimeEvent>(worker.capability, when_ns, post.event, post.payload);
    return;
  }
  const Kind kind = event.row()->kind;
  if (is_of_capability(kind)) return tell_capability(here, event, when_ns);
  RuntimePlace place = place_of(event, when_ns, kNoCapability);
  place.level = static_cast<Level>(level_);
  place.own = own_;
  if (!admit(here, event, place)) {
    ++losses_.refused;
    return;
  }
  place.capability = where(kind) == Where::kOutside ? kNoCapability : worker.capability;
  if (kind == Kind::kHeapProfileBegin) bands_ = static_cast<std::uint8_t>(event.number(0));
  if (kind == Kind::kHeapSampleBegin && bands_ == event_word::kBandKind::kLife)
    return here.log.put<Event::kHeapBioProfSampleBegin>(kNoCapability, when_ns, event.number(0), when_ns);
  const bool is_earlier = place.when_ns < when_ns;  // than the block that it would be in
  here.log.go_to(place.capability, place.when_ns);
  const std::size_t at = here.log.out().size();
  here.log.note(put_runtime_event(event, place, here.log.out()));
  if (may_go_on_) keep(event, place, here.log.out().view().subspan(at));
  if (is_earlier) here.log.close();
  (void)go_to(worker, place.when_ns);
}

bool EventlogSink::admit(const Here& here, const RuntimeEvent& event, RuntimePlace& place) noexcept {
  const Kind kind = event.row()->kind;
  if (is_of_thread(kind)) return admit_thread(here, event, place);
  if (needs_capability(kind)) {
    serve(here);
    if (here.worker.capability == kNoCapability) return false;
  }
  if (kind == Kind::kSparkStolen) {
    const std::uint16_t victim = capabilities_.named(place.other);
    if (victim != kNoCapability) place.other = victim;
  }
  return !is_of_collection(kind) || admit_collection(here.worker, kind);
}

// Begun once, and nothing of it outside.
bool EventlogSink::admit_collection(Worker& worker, Kind kind) noexcept {
  const bool is_begin = kind == Kind::kGcBegin;
  if (is_begin == (worker.is_collecting != 0)) return false;
  if (is_begin) worker.is_collecting = 1;
  if (kind == Kind::kGcEnd) worker.is_collecting = 0;
  return true;
}

// A thread that nobody told of before: it is remembered only for what is put.
bool EventlogSink::may_be_first(const Worker& worker, const RuntimeEvent& event) const noexcept {
  const Kind kind = event.row()->kind;
  if (threads_.find(event.number(0)) != Threads::kNone || kind == Kind::kThreadNamed) return true;
  const bool may_take = worker.is_refused == 0 && (worker.has_lost != 0 || !capabilities_.are_named());
  const bool has_capability = worker.capability != kNoCapability || may_take;
  return has_capability && kind != Kind::kThreadStopped && kind != Kind::kThreadFinished;
}

bool EventlogSink::admit_thread(const Here& here, const RuntimeEvent& event, RuntimePlace& place) noexcept {
  if (!may_be_first(here.worker, event)) return false;
  const Threads::Index thread = threads_.of_runtime(event.number(0));
  if (thread == Threads::kNone) return false;
  finish_system(here);
  serve(here);
  place.thread = threads_[thread].number;
  if (here.worker.capability == kNoCapability) return event.row()->kind == Kind::kThreadNamed;
  if (const std::uint16_t other = capabilities_.named(place.other); other != kNoCapability)
    place.other = other;
  switch (event.row()->kind) {
    case Kind::kThreadCreated:
    case Kind::kSparkThreadCreated:
      return threads_.create(thread, here.worker.capability, place.when_ns);
    case Kind::kThreadRunning:
      return admit_run(here, thread, place);
    case Kind::kThreadStopped:
      if (const Threads::Index owner = threads_.find(event.number(event_field::thread_stopped::info));
          owner != Threads::kNone)
        place.info = threads_[owner].number;
      return admit_stop(here, thread, place);
    case Kind::kThreadFinished:
      if (!admit_stop(here, thread, place)) return false;
      threads_.finish(thread, place.when_ns);
      return true;
    case Kind::kThreadNamed:
      return true;
    case Kind::kThreadRunnable:
    case Kind::kThreadWoken:
      if (threads_.is_running_at(thread, place.when_ns)) return false;
      [[fallthrough]];
    default:
      return threads_.mention(thread, here.worker.capability, place.when_ns);
  }
}

bool EventlogSink::admit_run(const Here& here, Threads::Index thread, RuntimePlace& place) noexcept {
  Worker& worker = here.worker;
  if (worker.running != 0 || !threads_.run(thread, here.number, worker.capability, place.when_ns))
    return false;
  worker.running = thread + 1;
  return true;
}

bool EventlogSink::admit_stop(const Here& here, Threads::Index thread, RuntimePlace& place) noexcept {
  if (here.worker.running != thread + 1) return false;
  here.worker.running = 0;
  threads_.stop(thread, here.number, place.when_ns);
  return true;
}

// A capability that is told of has a number from now on, whoever is said to work for it.
void EventlogSink::tell_capability(const Here& here, const RuntimeEvent& event,
                                   std::uint64_t when_ns) noexcept {
  const Kind kind = event.row()->kind;
  const auto name = static_cast<std::uint16_t>(event.number(0));
  if (kind == Kind::kCapabilityLeft) return leave_capability(here);
  const bool is_known = capabilities_.named(name) != kNoCapability;
  const std::uint16_t own =
      here.worker.is_automatic != 0 && !capabilities_.are_named() ? here.worker.capability : kNoCapability;
  const std::uint16_t number = name == kNoCapability ? kNoCapability : capabilities_.name(name, own, when_ns);
  if (number == kNoCapability) {
    ++losses_.without_capability;
    return;
  }
  if (number == own) here.worker.is_automatic = 0;
  if (kind == Kind::kCapabilityCreated || kind == Kind::kCapabilityTaken || !is_known)
    put_capability(here.log, number, when_ns);
  if (kind == Kind::kCapabilityTaken) take_capability(here, number, when_ns);
  if (kind == Kind::kCapabilityDeleted) delete_capability(here.log, number, when_ns);
  if (kind == Kind::kCapabilityDisabled) enable_capability(here.log, number, false, when_ns);
  if (kind == Kind::kCapabilityEnabled) enable_capability(here.log, number, true, when_ns);
}

void EventlogSink::enable_capability(LogPutter& log, std::uint16_t number, bool is_enabled,
                                     std::uint64_t when_ns) noexcept {
  if (is_enabled)
    log.put<Event::kCapEnable>(kNoCapability, when_ns, number);
  else
    log.put<Event::kCapDisable>(kNoCapability, when_ns, number);
  if (Capabilities::Row* const row = capabilities_.change(number)) row->is_enabled = is_enabled ? 1 : 0;
}

void EventlogSink::take_capability(const Here& here, std::uint16_t number, std::uint64_t when_ns) noexcept {
  Worker& worker = here.worker;
  finish_system(here);
  if (worker.running != 0 || worker.is_collecting != 0) {
    if (worker.capability != number) ++losses_.refused;
    return;
  }
  if (worker.is_automatic != 0) {
    enable_capability(here.log, worker.capability, false, when_ns);
    capabilities_.give_back(worker.capability, when_ns);
    worker.is_automatic = 0;
  }
  worker.capability = number;
  worker.has_lost = 0;
  put_task(here);
}

void EventlogSink::leave_capability(const Here& here) noexcept {
  Worker& worker = here.worker;
  finish_system(here);
  if (worker.capability == kNoCapability || worker.running != 0 || worker.is_collecting != 0 ||
      worker.is_automatic != 0) {
    ++losses_.refused;
    return;
  }
  worker.capability = kNoCapability;
}

}  // namespace jitquill::eventlog
