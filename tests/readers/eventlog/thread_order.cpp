#include "tests/readers/eventlog/thread_order.hpp"

#include <algorithm>
#include <map>

#include "tests/readers/eventlog/reader.hpp"

namespace eventlog_reader {
namespace {

constexpr std::uint16_t kCreate = 0, kRun = 1, kStop = 2, kRunnable = 3, kMigrate = 4, kWakeup = 8;
constexpr std::uint64_t kStatusFinished = 5;

enum class State { kStopped, kQueued, kRunning, kFinished };

}  // namespace

void ThreadOrder::take(std::uint64_t at, const Event& event) {
  const bool is_of_threads = event.number <= kMigrate || event.number == kWakeup;
  if (!is_of_threads || event.numbers.empty()) return;
  steps_.push_back({event.when_ns, at, event.number, event.capability, event.numbers[0],
                    event.number == kStop && event.numbers.size() > 1 ? event.numbers[1] : 0});
}

std::vector<ThreadOrder::Fault> ThreadOrder::faults() const {
  std::vector<Fault> faults;
  std::vector<Step> steps = steps_;
  std::ranges::stable_sort(steps, {}, &Step::when_ns);
  std::map<std::uint64_t, State> threads;
  std::map<std::uint16_t, std::uint64_t> running;  // by capability
  for (const Step& step : steps) {
    const auto fault = [&](const char* what) {
      faults.push_back({step.at, "thread " + std::to_string(step.thread) + " " + what});
    };
    const bool is_new = !threads.contains(step.thread);
    State& state = threads[step.thread];
    if (step.number == kCreate) {
      if (!is_new) fault("is created twice");
      state = State::kQueued;
      continue;
    }
    if (is_new) fault("was not created");
    if (state == State::kFinished) fault("goes on behind its end");
    if (step.number == kRun) {
      if (state == State::kRunning) fault("runs already");
      if (running.contains(step.capability)) fault("runs where another does");
      state = State::kRunning;
      running[step.capability] = step.thread;
    } else if (step.number == kStop) {
      const auto on = running.find(step.capability);
      if (state != State::kRunning || on == running.end() || on->second != step.thread)
        fault("stops and did not run");
      if (on != running.end()) running.erase(on);
      state = step.status == kStatusFinished ? State::kFinished : State::kStopped;
    } else if (state == State::kRunning && (step.number == kRunnable || step.number == kWakeup)) {
      fault("is woken while it runs");
    }
  }
  return faults;
}

}  // namespace eventlog_reader
