#include "agent/sampler/sampler.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <new>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/folder_entries.hpp"
#include "agent/base/high_descriptor.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/sampler/limits.hpp"

namespace jitquill::sampler {
namespace {

constexpr std::size_t kMostRingBytes = 512 * 1024;  // with a page, what each user has for each CPU by default
constexpr std::size_t kLeastSamples = 4;            // in a ring
constexpr std::size_t kPageSize = 4096;
constexpr std::uint32_t kMostCpus = 8192;
constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// "0-3,8": see(cpu) of each.
template <class See>
void each_of_list(std::string_view list, See see) noexcept {
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    std::uint32_t low = 0;
    const auto first = std::from_chars(at, end, low);
    if (first.ec != std::errc()) return;
    std::uint32_t high = low;
    at = first.ptr;
    if (at != end && *at == '-') at = std::from_chars(at + 1, end, high).ptr;
    for (std::uint32_t cpu = low; cpu <= std::min(high, kMostCpus); ++cpu) see(cpu);
    if (at != end) ++at;
  }
}

// Also those that this process may not run on now: it may be let.
template <class See>
void each_cpu(See see) noexcept {
  char list[1024];
  const int file = raw::open_at(AT_FDCWD, "/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC, 0);
  const long size = file < 0 ? file : raw::call(SYS_read, file, list, sizeof list);
  if (file >= 0) raw::close(file);
  if (size > 0) return each_of_list({list, static_cast<std::size_t>(size)}, see);
  std::uint64_t mask[kMostCpus / 64] = {};
  (void)raw::call(SYS_sched_getaffinity, 0, sizeof mask, mask);
  for (std::uint32_t cpu = 0; cpu < kMostCpus; ++cpu) {
    if ((mask[cpu / 64] >> cpu % 64 & 1) != 0) see(cpu);
  }
}

}  // namespace

Sampler::~Sampler() {
  close();
}

bool Sampler::is_known(std::uint32_t tid) const noexcept {
  return std::ranges::find(known_.all(), tid) != known_.all().end();
}

// But our own.
bool Sampler::read_threads(GrowingArray<std::uint32_t>& tids) const noexcept {
  bool has_memory = true;
  for_each_entry(AT_FDCWD, "/proc/self/task", [&](const char* name) {
    std::uint32_t tid = 0;
    (void)std::from_chars(name, name + std::strlen(name), tid);
    if (tid != 0 && tid != own_tid_) has_memory = tids.push(tid) && has_memory;
  });
  return has_memory;
}

Refusal Sampler::open_ring(std::uint32_t tid, std::uint32_t cpu, std::size_t bytes) noexcept {
  CpuRing one;
  one.cpu = cpu;
  one.event = event_.open(tid, cpu);
  if (one.event == -ENODEV) return {};  // the CPU went off
  if (one.event >= 0) one.event = moved_high(one.event);
  if (one.event < 0) return {Refusal::Call::kOpen, one.event};
  one.event_id = Event::id_of(one.event);
  const int mapped = one.ring.map(one.event, bytes);
  if (mapped == 0 && rings_.push(one)) return {};
  one.ring.unmap();
  raw::close(one.event);
  return {Refusal::Call::kMap, mapped != 0 ? mapped : -ENOMEM};
}

Refusal Sampler::open_rings(std::uint32_t tid, std::size_t bytes) noexcept {
  event_.set(wish_, static_cast<std::uint32_t>(bytes));
  Refusal refusal;
  each_cpu([&](std::uint32_t cpu) {
    if (!refusal) refusal = open_ring(tid, cpu, bytes);
  });
  if (refusal) unmap_all();
  return refusal;
}

// As large as they may be: what a user's processes may lock together is not known before it is tried.
Refusal Sampler::open_rings(std::uint32_t tid) noexcept {
  const std::size_t least = kLeastSamples * Event::bytes_of_sample(wish_.stack_bytes);
  Refusal refusal;
  for (std::size_t bytes = kMostRingBytes; bytes >= std::max(least, kPageSize); bytes /= 2) {
    refusal = open_rings(tid, bytes);
    if (refusal.call != Refusal::Call::kMap || refusal.error != -EPERM) break;
  }
  return refusal;
}

// Each may end meanwhile.
Refusal Sampler::open_of_any_thread() noexcept {
  Refusal refusal;
  for (const std::uint32_t tid : strange_.all()) {
    refusal = open_rings(tid);
    if (refusal.error == -ESRCH) continue;
    if (!refusal) (void)known_.push(tid);
    break;
  }
  return refusal;
}

bool Sampler::open(const Wish& wish, Say say) noexcept {
  wish_ = wish;
  say_ = say;
  pid_ = current_pid();
  room_ = static_cast<std::uint8_t*>(::operator new(Ring::kMostRecord, std::nothrow));
  const bool has_memory = room_ != nullptr && read_threads(strange_);
  const Refusal refusal = has_memory ? open_of_any_thread() : Refusal{Refusal::Call::kMap, -ENOMEM};
  if (refusal || rings_.empty()) {
    say_nothing_works(refusal);
    close();
    return false;
  }
  for (const std::uint32_t tid : strange_.all()) {
    if (!is_known(tid)) follow_or_count(tid);
  }
  strange_.clear();
  is_settling_ = true;
  settled_ns_ = monotonic_ns();
  settle();  // at once, where nobody could make a thread meanwhile
  return true;
}

// Into the rings that there are. A thread that has ended needs none.
Refusal Sampler::open_events(std::uint32_t tid, GrowingArray<int>& events) noexcept {
  for (const CpuRing& to : rings_.all()) {
    const int event = event_.open(tid, to.cpu);
    if (event == -ENODEV) continue;
    if (event < 0) return {Refusal::Call::kOpen, event};
    const long redirected = raw::call(SYS_ioctl, event, PERF_EVENT_IOC_SET_OUTPUT, to.event);
    const bool has_memory = events.push(event);
    if (is_settling_) note_own(tid, to.cpu, event);
    if (redirected >= 0 && has_memory) continue;
    if (!has_memory) raw::close(event);
    return {Refusal::Call::kRedirect, has_memory ? static_cast<int>(redirected) : -ENOMEM};
  }
  return {};
}

void Sampler::note_own(std::uint32_t tid, std::uint32_t cpu, int event) noexcept {
  const std::uint64_t id = Event::id_of(event);
  if (id != 0) (void)own_events_.push({tid, cpu, id});
}

bool Sampler::is_double(const Record& record) const noexcept {
  return std::ranges::any_of(own_events_.all(), [&](const OwnEvent& own) {
    return own.tid == record.tid && own.cpu == record.cpu && own.id != record.event;
  });
}

Refusal Sampler::follow(std::uint32_t tid) noexcept {
  GrowingArray<int> events;
  const Refusal refusal = open_events(tid, events);
  if (!refusal) {
    const int kept = kept_.keep(events.all());
    return kept != 0 ? Refusal{Refusal::Call::kKeep, kept} : Refusal{};
  }
  for (const int event : events.all()) raw::close(event);
  return refusal.error == -ESRCH ? Refusal{} : refusal;
}

void Sampler::follow_or_count(std::uint32_t tid) noexcept {
  (void)known_.push(tid);
  const Refusal refusal = follow(tid);
  if (!refusal) return;
  count(Counter::sample_threads_refused);
  if (unsampled_++ == 0) first_refusal_ = refusal;
}

// A thread that nobody told of may have been made by one that was sampled, whose record comes after the
// thread is there: so it is waited for until the next look.
void Sampler::settle() noexcept {
  GrowingArray<std::uint32_t> tids, strange;
  bool has_memory = read_threads(tids);
  for (const std::uint32_t tid : tids.all()) {
    if (is_known(tid)) continue;
    if (std::ranges::find(strange_.all(), tid) != strange_.all().end()) {
      follow_or_count(tid);
      settled_ns_ = monotonic_ns();
    } else {
      has_memory = strange.push(tid) && has_memory;
    }
  }
  is_settling_ = has_memory && !strange.empty();
  strange_ = std::move(strange);
  if (is_settling_) return;
  keep_events();
  say_limits();
}

// Also of a thread that has the number of one that ended.
void Sampler::note(const Record& record) noexcept {
  if (record.kind != RecordKind::kThread || record.pid != pid_) return;
  if (is_settling_ && record.when_ns > settled_ns_) (void)known_.push(record.tid);
  for (std::size_t i = is_settling_ ? 0 : own_events_.size(); i-- > 0;) {
    if (own_events_[i].tid == record.tid) own_events_.erase(i);
  }
}

void Sampler::set_own_thread() noexcept {
  own_tid_ = current_tid();
}

bool Sampler::is_ours(const Record& record) const noexcept {
  return record.kind == RecordKind::kSample && record.pid == pid_ && record.tid != own_tid_ &&
         !is_double(record);
}

std::uint64_t Sampler::longest_pause_ns() const noexcept {
  if (!is_open()) return ~std::uint64_t{0};
  const std::uint64_t samples = rings_[0].ring.mapped_bytes() / 2 / Event::bytes_of_sample(wish_.stack_bytes);
  return std::max<std::uint64_t>(samples, 1) * kNsPerSecond / wish_.hz;
}

// Its number may be a file of the host's by now.
bool Sampler::has_event(const CpuRing& one) noexcept {
  return one.event >= 0 && Event::id_of(one.event) == one.event_id;
}

// A ring whose event cannot be kept goes on, since it is mapped.
void Sampler::keep_events() noexcept {
  GrowingArray<int> events;
  for (CpuRing& one : rings_.all()) {
    if (has_event(one) && !events.push(one.event)) raw::close(one.event);
    one.event = -1;
  }
  if (!events.empty()) (void)kept_.keep(events.all());
}

// A thread's were kept in the order of the rings; where a CPU went off meanwhile nobody knows which is whose.
void Sampler::end_events() noexcept {
  keep_events();
  kept_.take_back([this](std::span<const int> events) {
    for (std::size_t i = 0; i < events.size(); ++i)
      rings_[events.size() == rings_.size() ? i : 0].lost += event_.end(events[i]);
  });
}

void Sampler::close_events() noexcept {
  for (CpuRing& one : rings_.all()) {
    if (has_event(one)) raw::close(one.event);
    one.event = -1;
  }
}

void Sampler::close_files() noexcept {
  close_events();
  kept_.release();
}

void Sampler::unmap_all() noexcept {
  close_files();
  for (CpuRing& one : rings_.all()) one.ring.unmap();
  rings_.clear();
}

void Sampler::close() noexcept {
  unmap_all();
  known_.clear();
  strange_.clear();
  own_events_.clear();
  is_settling_ = false;
  unsampled_ = 0;
  ::operator delete(room_);
  room_ = nullptr;
}

void Sampler::say_nothing_works(const Refusal& refusal) noexcept {
  count(Counter::sample_threads_refused, std::max<std::size_t>(strange_.size(), 1));
  Message line;
  line.text("sample=").number(wish_.hz).text(": nothing is sampled: ");
  if (refusal) put_cause(refusal, wish_, line);
  if (!refusal) line.text("no thread or no CPU was found");
  say_(line.view());
}

// All of it in one line: who hears it keeps one.
void Sampler::say_limits() noexcept {
  Message line;
  constexpr std::size_t kKiB = 1024;
  line.text("sample=").number(wish_.hz).text(": ");
  const std::size_t before = line.view().size();
  const auto next = [&]() -> Message& { return line.view().size() == before ? line : line.text("; "); };
  if (unsampled_ != 0) {
    next().number(unsampled_).text(unsampled_ == 1 ? " thread is" : " threads are").text(" not sampled: ");
    put_cause(first_refusal_, wish_, line);
  }
  const std::size_t ring_bytes = rings_[0].ring.mapped_bytes() - kPageSize;
  if (ring_bytes < kMostRingBytes) {
    next().text("rings have ").number(ring_bytes / kKiB).text(" KiB, which is all that may be locked");
    line.text(" (kernel.perf_event_mlock_kb, ulimit -l)");
  }
  if (event_.has_no_cycles()) next().text("by the clock: this machine has no counter of cycles to sample by");
  if (event_.is_blind_to_kernel()) put_blindness(next());
  if (line.view().size() != before) say_(line.view());
}

}  // namespace jitquill::sampler
