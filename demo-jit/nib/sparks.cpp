#include "nib/sparks.hpp"

#include <algorithm>
#include <mutex>

namespace nib {
namespace {

// Several runs may go on at once, and what the agent is told is the process's.
struct Number {
  bool is_taken = false;
  SparkCounts counts{};
};
std::mutex numbers_mutex;
std::deque<Number> numbers;

void fizzle(SparkCounts& by) noexcept {
  ++by.fizzled;
  tell_spark(JITQUILL_SPARK_FIZZLED);
}

}  // namespace

std::uint16_t Sparks::take_capability() {
  const std::lock_guard guard(numbers_mutex);
  const auto free =
      std::find_if(numbers.begin(), numbers.end(), [](const Number& each) { return !each.is_taken; });
  const auto number = static_cast<std::uint16_t>(free - numbers.begin());
  if (free == numbers.end()) {
    numbers.emplace_back();
    tell_capability_created(number);
  }
  numbers[number].is_taken = true;
  tell_capability_taken(number);
  if (capabilities_.empty()) first_ = number;
  if (capabilities_.size() <= number) capabilities_.resize(number + std::size_t{1});
  capabilities_[number].counts = &numbers[number].counts;
  return number;
}

void Sparks::leave_capability(std::uint16_t capability) {
  Capability& own = capabilities_[capability];
  if (capability != first_) {
    std::deque<Task*>& first = capabilities_[first_].waiting;
    first.insert(first.begin(), own.waiting.begin(), own.waiting.end());
    own.waiting.clear();
  }
  tell_counts(capability);
  tell_capability_left(capability);
  const std::lock_guard guard(numbers_mutex);
  numbers[capability].is_taken = false;
}

void Sparks::put(std::uint16_t capability, Task& spark) {
  Capability& own = capabilities_[capability];
  if (own.waiting.size() >= kMost) {
    ++own.counts->overflowed;
    return tell_spark(JITQUILL_SPARK_OVERFLOWED);
  }
  own.waiting.push_back(&spark);
  ++own.counts->created;
  tell_spark(JITQUILL_SPARK_CREATED);
}

Task* Sparks::next(std::uint16_t capability) {
  SparkCounts& counts = *capabilities_[capability].counts;
  for (std::size_t i = 0; i < capabilities_.size(); ++i) {
    const std::size_t victim = (capability + i) % capabilities_.size();
    std::deque<Task*>& waiting = capabilities_[victim].waiting;
    while (!waiting.empty()) {
      Task* const spark = i == 0 ? waiting.back() : waiting.front();
      i == 0 ? waiting.pop_back() : waiting.pop_front();
      if (spark->state == Task::State::kWaiting) {
        ++counts.converted;
        i == 0 ? tell_spark(JITQUILL_SPARK_RUN) : tell_spark_stolen(static_cast<std::uint16_t>(victim));
        return spark;
      }
      fizzle(counts);
    }
  }
  return nullptr;
}

// What is not its newest stays, and fizzles when it is found.
void Sparks::take(std::uint16_t capability, Task& spark) {
  Capability& own = capabilities_[capability];
  if (own.waiting.empty() || own.waiting.back() != &spark) return;
  own.waiting.pop_back();
  ++own.counts->converted;
  tell_spark(JITQUILL_SPARK_RUN);
}

bool Sparks::is_empty() const noexcept {
  return std::all_of(capabilities_.begin(), capabilities_.end(),
                     [](const Capability& each) { return each.waiting.empty(); });
}

void Sparks::prune(std::uint16_t capability, const Heap& heap) {
  SparkCounts& counts = *capabilities_[capability].counts;
  const auto is_gone = [&](const Task* spark) {
    const bool is_lost = !heap.is_marked(spark->head);
    if (is_lost) {
      ++counts.collected;
      tell_spark(JITQUILL_SPARK_COLLECTED);
    } else if (spark->state != Task::State::kWaiting) {
      fizzle(counts);
    }
    return is_lost || spark->state != Task::State::kWaiting;
  };
  for (Capability& each : capabilities_) std::erase_if(each.waiting, is_gone);
}

void Sparks::tell_counts(std::uint16_t capability) const noexcept {
  const Capability& own = capabilities_[capability];
  const SparkCounts& counts = *own.counts;
  if (counts.created + counts.overflowed + counts.converted + counts.collected + counts.fizzled > 0)
    tell_spark_counts(counts, own.waiting.size());
}

}  // namespace nib
