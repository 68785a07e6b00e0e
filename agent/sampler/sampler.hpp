// Looks at the process's threads some times a second, by perf events of the kernel: no signal, handler or
// lock in any of its threads.
//
// Each thread that there is when it begins has an event on each CPU, which the threads that it makes inherit;
// all events of a CPU write into one ring, since the kernel has an inherited event write into that of a CPU
// only. What a thread makes while its own events are being opened inherits some of them, or none: so each
// thread that came until all had theirs, as records of new threads in the rings tell, gets its own, and
// samples that it has twice are told by their events' numbers. An event lives as long as it is mapped,
// without a descriptor; those of threads that came before us, whose number has no bound, are kept behind a
// few (kept_events.hpp).
//
// Context   open(): [life], with no lock of ours held but the drain's, or [drain]. set_own_thread(), look(),
//           close(): [drain]; any one thread. close_files(): [life], in a child.
// Promises  rings are as large as the kernel allows, down to what a few samples need; what it refuses is said
//           in one line, with the limit and the cure, and the threads that are not sampled are counted.
// Does not  know what is at an address, nor outlive a fork: a child opens its own.
#pragma once

#include <cstdint>
#include <span>

#include "agent/sampler/event.hpp"
#include "agent/sampler/kept_events.hpp"
#include "agent/sampler/limits.hpp"
#include "agent/sampler/record.hpp"
#include "agent/sampler/ring.hpp"
#include "writer/bytes/growing_array.hpp"

namespace jitquill::sampler {

// One line for the user: the cause, then the cure.
using Say = void (*)(std::string_view words);

class Sampler {
 public:
  Sampler() noexcept = default;
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // False: nothing can be sampled, and it was said why.
  bool open(const Wish& wish, Say say) noexcept;
  bool is_open() const noexcept { return !rings_.empty(); }
  // Of which nobody wants samples.
  void set_own_thread() noexcept;

  // see(record) of each sample and each loss that there is, ring by ring. Then the threads that came while it
  // was opened are looked for.
  template <class See>
  void look(See see) noexcept {
    for (CpuRing& one : rings_.all()) {
      one.ring.begin();
      for (auto bytes = one.ring.next(room_); !bytes.empty(); bytes = one.ring.next(room_)) {
        Record record = read_record(bytes, wish_.stack_bytes != 0);
        record.cpu = one.cpu;
        note(record);
        if (record.kind == RecordKind::kLost) one.told_lost += record.lost;
        if (record.kind == RecordKind::kLost || is_ours(record)) see(record);
      }
    }
    if (is_settling_) settle();
  }
  // As look(), a last time; then nothing is sampled, and losses are seen that no sample followed.
  template <class See>
  void finish(See see) noexcept {
    if (!is_open()) return;
    end_events();
    is_settling_ = false;
    look(see);
    for (const CpuRing& one : rings_.all()) {
      Record loss;
      loss.kind = RecordKind::kLost;
      loss.cpu = one.cpu;
      loss.lost = one.lost > one.told_lost ? one.lost - one.told_lost : 0;
      if (loss.lost != 0) see(loss);
    }
    close();
  }
  void close() noexcept;
  // In a child, which has no more of it than these.
  void close_files() noexcept;

  // Until then rings are half full at the most, if all CPUs are busy.
  std::uint64_t longest_pause_ns() const noexcept;
  std::size_t threads() const noexcept { return known_.size(); }

 private:
  struct CpuRing {
    Ring ring;
    std::uint32_t cpu = 0;
    int event = -1;  // its first, while others are opened that write into its ring; -1 = kept like those
    std::uint64_t event_id = 0;
    std::uint64_t told_lost =
        0;                   // by records, which the kernel writes in front of the next one that finds room
    std::uint64_t lost = 0;  // by its events, when they had ended
  };

  Refusal open_of_any_thread() noexcept;
  Refusal open_rings(std::uint32_t tid) noexcept;
  Refusal open_rings(std::uint32_t tid, std::size_t bytes) noexcept;
  Refusal open_ring(std::uint32_t tid, std::uint32_t cpu, std::size_t bytes) noexcept;
  Refusal follow(std::uint32_t tid) noexcept;
  Refusal open_events(std::uint32_t tid, GrowingArray<int>& events) noexcept;
  void note_own(std::uint32_t tid, std::uint32_t cpu, int event) noexcept;
  void follow_or_count(std::uint32_t tid) noexcept;
  void settle() noexcept;
  static bool has_event(const CpuRing& one) noexcept;
  void keep_events() noexcept;
  void end_events() noexcept;
  void close_events() noexcept;
  void unmap_all() noexcept;
  void note(const Record& record) noexcept;
  bool is_ours(const Record& record) const noexcept;
  bool is_double(const Record& record) const noexcept;
  bool is_known(std::uint32_t tid) const noexcept;
  bool read_threads(GrowingArray<std::uint32_t>& tids) const noexcept;
  void say_nothing_works(const Refusal& refusal) noexcept;
  void say_limits() noexcept;

  Wish wish_;
  Say say_ = nullptr;
  Event event_;
  GrowingArray<CpuRing> rings_;
  KeptEvents kept_;                      // all, once nothing has to be told of them any more
  GrowingArray<std::uint32_t> known_;    // threads that are sampled, or end before they are, or cannot be
  GrowingArray<std::uint32_t> strange_;  // that nobody told of at the last look
  struct OwnEvent {
    std::uint32_t tid;
    std::uint32_t cpu;
    std::uint64_t id;
  };
  GrowingArray<OwnEvent> own_events_;  // of threads that may have inherited some, too
  std::uint64_t settled_ns_ = 0;       // what threads made since then inherited all that there are
  std::uint8_t* room_ = nullptr;
  std::uint32_t pid_ = 0;
  std::uint32_t own_tid_ = 0;
  bool is_settling_ = false;  // some threads may be unknown
  std::size_t unsampled_ = 0;
  Refusal first_refusal_;  // of those
};

}  // namespace jitquill::sampler
