// The eventlog sink's part that knows threads of the system: which capability each has, and what stands for
// it where its runtime tells of no threads.
#include "writer/eventlog/sink.hpp"

namespace jitquill::eventlog {
// Before what needs a capability, or at least a row in tools.
void EventlogSink::serve(const Here& here) noexcept {
  Worker& worker = here.worker;
  const bool may_be_named = capabilities_.are_named() && worker.has_lost == 0;
  if (worker.capability == kNoCapability && !may_be_named) take_automatic(here);
  if (worker.capability != kNoCapability && !threads_.are_told() && worker.system == 0) stand_for(here);
}

void EventlogSink::take_automatic(const Here& here) noexcept {
  Worker& worker = here.worker;
  if (worker.is_refused != 0) return;
  const std::uint16_t number = capabilities_.take(worker.last_ns);
  if (number == kNoCapability) {
    worker.is_refused = 1;
    ++losses_.without_capability;
    return;
  }
  worker.capability = number;
  worker.is_automatic = 1;
  put_capability(here.log, number, worker.last_ns);
  put_task(here);
}

void EventlogSink::put_new_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept {
  log.put<Event::kCapCreate>(kNoCapability, when_ns, number);
  log.put<Event::kCapsetAssignCap>(kNoCapability, when_ns, kProcessSet, number);
  log.put<Event::kCapsetAssignCap>(kNoCapability, when_ns, kClockSet, number);
}

// Makes it known, if it is not. What others tell of a time before it was deleted does not make it again.
void EventlogSink::put_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept {
  Capabilities::Row* const row = capabilities_.change(number);
  if (row == nullptr) return;
  if (row->is_there != 0) {
    if (row->is_enabled == 0) log.put<Event::kCapEnable>(kNoCapability, when_ns, number);
  } else if (row->deleted_ns == 0 || row->deleted_ns < when_ns) {
    put_new_capability(log, number, when_ns);
    row->is_there = 1;
  }
  row->is_enabled = 1;
}

void EventlogSink::delete_capability(LogPutter& log, std::uint16_t number, std::uint64_t when_ns) noexcept {
  Capabilities::Row* const row = capabilities_.change(number);
  if (row == nullptr || row->is_there == 0) return;
  log.put<Event::kCapsetRemoveCap>(kNoCapability, when_ns, kProcessSet, number);
  log.put<Event::kCapsetRemoveCap>(kNoCapability, when_ns, kClockSet, number);
  log.put<Event::kCapDelete>(kNoCapability, when_ns, number);
  row->is_there = 0;
  row->deleted_ns = when_ns;
}

// Tools place what the kernel says of a thread by these.
void EventlogSink::put_task(const Here& here) noexcept {
  Worker& worker = here.worker;
  const std::uint64_t task = here.number + std::uint64_t{1};
  if (worker.task_capability == kNoCapability)
    here.log.put<Event::kTaskCreate>(kNoCapability, worker.last_ns, task, worker.capability,
                                     std::uint64_t{worker.tid});
  else if (worker.task_capability != worker.capability)
    here.log.put<Event::kTaskMigrate>(kNoCapability, worker.last_ns, task, worker.task_capability,
                                      worker.capability);
  worker.task_capability = worker.capability;
}

// A thread of the log that runs as long as the one of the system does, under its name.
void EventlogSink::stand_for(const Here& here) noexcept {
  Worker& worker = here.worker;
  const Threads::Index index = threads_.of_system(here.number);
  if (index == Threads::kNone) return;
  std::uint64_t when_ns = worker.last_ns;
  (void)threads_.create(index, worker.capability, when_ns);
  (void)threads_.run(index, here.number, worker.capability, when_ns);
  const std::uint32_t number = threads_[index].number;
  here.log.put<Event::kCreateThread>(worker.capability, when_ns, number);
  if (!here.name.empty()) {
    here.log.put<Event::kThreadLabel>(worker.capability, when_ns, number, here.name);
    if (may_go_on_) keep_label(number, when_ns, here.name);
  }
  here.log.put<Event::kRunThread>(worker.capability, when_ns, number);
  worker.system = worker.running = index + 1;
}

// The runtime tells of threads after all, or the thread ends.
void EventlogSink::finish_system(const Here& here) noexcept {
  Worker& worker = here.worker;
  if (worker.system == 0 || worker.running != worker.system) return;
  here.log.put<Event::kStopThread>(worker.capability, worker.last_ns, threads_[worker.system - 1].number,
                                   kFinished, std::uint32_t{0});
  std::uint64_t when_ns = worker.last_ns;
  threads_.stop(worker.system - 1, here.number, when_ns);
  threads_.finish(worker.system - 1, worker.last_ns);
  worker.running = 0;
}

// What the runtime told last goes on no longer.
void EventlogSink::stop_all(const Here& here) noexcept {
  Worker& worker = here.worker;
  if (worker.is_collecting != 0) here.log.put<Event::kGcEnd>(worker.capability, worker.last_ns);
  worker.is_collecting = 0;
  if (worker.running == 0 || worker.running == worker.system) return;
  here.log.put<Event::kStopThread>(worker.capability, worker.last_ns, threads_[worker.running - 1].number,
                                   kYields, std::uint32_t{0});
  std::uint64_t when_ns = worker.last_ns;
  threads_.stop(worker.running - 1, here.number, when_ns);
  worker.running = 0;
}

// Whoever still runs in a thread that is gone does not any longer.
void EventlogSink::end_worker(const Here& here, bool has_ended) noexcept {
  Worker& worker = here.worker;
  profile_.end_worker(here.number);
  finish_system(here);
  stop_all(here);
  if (worker.task_capability != kNoCapability)
    here.log.put<Event::kTaskDelete>(kNoCapability, worker.last_ns, here.number + std::uint64_t{1});
  if (has_ended && worker.is_automatic != 0) {
    enable_capability(here.log, worker.capability, false, worker.last_ns);
    capabilities_.give_back(worker.capability, worker.last_ns);
  }
  worker.is_automatic = 0;
  worker.capability = worker.task_capability = kNoCapability;
}

// Of threads that did something and whose creation nobody told.
void EventlogSink::put_missing_creations(LogPutter& log) noexcept {
  for (Threads::Index i = 0; i < threads_.size(); ++i) {
    if (!threads_.lacks_creation(i)) continue;
    threads_.note_creation(i);
    log.put<Event::kCreateThread>(threads_[i].first_capability, threads_[i].created_ns, threads_[i].number);
  }
}

}  // namespace jitquill::eventlog
