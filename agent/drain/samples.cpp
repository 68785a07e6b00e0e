#include "agent/drain/samples.hpp"

#include <algorithm>

#include "agent/base/counters.hpp"
#include "agent/stacks/open_plugin.hpp"

namespace jitquill::drain {

using sampler::Record;
using sampler::RecordKind;

bool Samples::start(const sampler::Wish& wish, sampler::Say say, ReturnAddress taken) noexcept {
  return_address_ = taken;
  return sampler_.open(wish, say);
}

void Samples::begin_look() noexcept {
  walker_.use(stacks::stacks_plugin());
  walker_.forget_memory();
  functions_.begin_look();
  functions_.read_news();
  forget_if_code_changed();
}

void Samples::forget_if_code_changed() noexcept {
  const std::uint64_t changes = functions_.changes();
  has_changed_ = changes != changes_;
  changes_ = changes;
  if (!has_changed_) return;
  for (ThreadMemo& memo : memos_) memo.walk.clear();
  for (KnownPlace& place : places_) place.address = 0;
}

Functions::Place Samples::place_of(std::uint64_t address) noexcept {
  KnownPlace& known = places_[address % kPlaces];
  if (known.address == address) return known.place;
  const Functions::Place place = functions_.place_of(address, when_ns_);
  const bool holds = !has_changed_ && functions_.changes() == changes_ && place.function != Functions::kNone;
  if (holds) known = {address, place};
  return place;
}

std::uint64_t Samples::look() noexcept {
  if (!sampler_.is_open()) return 0;
  begin_look();
  std::uint64_t taken = 0;
  sampler_.look([&](const Record& record) {
    taken += record.kind == RecordKind::kSample ? 1 : 0;
    see(record);
  });
  flush();
  return taken;
}

void Samples::finish() noexcept {
  if (!sampler_.is_open()) return;
  begin_look();
  sampler_.finish([&](const Record& record) { see(record); });
  flush();
  for (Cpu& one : cpus_.all()) {
    if (one.lost != 0) taker_.take_samples({one.number, one.lost, {}});
    one.lost = 0;
  }
}

void Samples::see(const Record& record) noexcept {
  record.kind == RecordKind::kSample ? take(record) : lose(record);
}

bool Samples::find_tables(std::uint64_t address, stacks::CodeTables& tables) noexcept {
  return functions_.find_tables(address, when_ns_, tables);
}

std::uint64_t Samples::return_address(std::uint64_t found, std::uint64_t slot) noexcept {
  return return_address_ != nullptr ? return_address_(found, slot) : found;
}

// Null: no memory.
Samples::Cpu* Samples::cpu(std::uint32_t number) noexcept {
  const auto found = std::ranges::find(cpus_.all(), number, &Cpu::number);
  if (found != cpus_.all().end()) return &*found;
  return cpus_.push({number, 0}) ? &cpus_.back() : nullptr;
}

void Samples::lose(const Record& record) noexcept {
  flush();
  count(Counter::samples_lost, record.lost);
  if (Cpu* const one = cpu(record.cpu)) one->lost += record.lost;
}

void Samples::take(const Record& record) noexcept {
  if (record.cpu != cpu_ || views_.size() == kMostAtOnce) flush();
  cpu_ = record.cpu;
  const std::size_t before = frames_.size();
  if (add(record)) return;
  frames_.cut(before);
  Record lost;
  lost.cpu = record.cpu;
  lost.lost = 1;
  lose(lost);
}

void Samples::put_frame(std::uint64_t address) noexcept {
  const Functions::Place place = place_of(address);
  if (place.function != Functions::kNone) (void)frames_.push({address, place.offset, place.function});
}

stacks::Walked Samples::walk(const Record& record) noexcept {
  if (!record.has_registers) return {0, true, false};
  addresses_[0] = record.registers.pc();
  if (record.stack.empty()) return {1, true, false};
  ThreadMemo& memo = memos_[record.tid % kMemos];
  if (memo.tid != record.tid) memo.walk.clear();
  memo.tid = record.tid;
  const stacks::Walked walked = walker_.walk(record.registers, true, {record.registers.sp(), record.stack},
                                             *this, addresses_, has_changed_ ? nullptr : &memo.walk);
  return {std::max<std::size_t>(walked.count, 1), walked.is_partial, walked.has_end};
}

// False: no memory.
bool Samples::add(const Record& record) noexcept {
  when_ns_ = record.when_ns;
  const stacks::Walked walked = walk(record);
  const std::size_t first = frames_.size();
  for (std::size_t i = 0; i < walked.count; ++i) put_frame(addresses_[i]);
  if (walked.count == 0) put_frame(0);
  const bool is_whole = frames_.size() - first == std::max<std::size_t>(walked.count, 1);
  if (frames_.size() == first || !firsts_.push(first)) return false;
  const SampleView view{
      record.when_ns, record.ip, record.pid, record.tid, record.is_kernel, walked.is_partial || !is_whole, {},
      walked.has_end};
  if (!views_.push(view)) {
    firsts_.pop();
    return false;
  }
  count(Counter::samples);
  if (view.is_kernel) count(Counter::samples_of_kernel);
  if (view.is_partial) count(Counter::samples_partial);
  return true;
}

void Samples::flush() noexcept {
  if (views_.empty()) return;
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const std::size_t end = i + 1 < views_.size() ? firsts_[i + 1] : frames_.size();
    views_[i].frames = frames_.all().subspan(firsts_[i], end - firsts_[i]);
  }
  Cpu* const one = cpu(cpu_);
  taker_.take_samples({cpu_, one == nullptr ? 0 : one->lost, views_.all()});
  if (one != nullptr) one->lost = 0;
  views_.clear();
  firsts_.clear();
  frames_.clear();
}

}  // namespace jitquill::drain
