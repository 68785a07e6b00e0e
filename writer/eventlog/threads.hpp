// The threads of a log: those that a runtime told of, and those of the system that run code where none did.
//
// Batches come in any order, so that a thread may run in one before it is created in another. What cannot be
// is what times say: those of two threads of the system agree within kSlack_ns, less than that is mended.
//
// Context   as the sink that uses it.
// Promises  a number in the log is one thread's for ever.
// Does not  put records.
#pragma once

#include <cstdint>

#include "writer/bytes/number_table.hpp"
#include "writer/eventlog/state_rows.hpp"

namespace jitquill::eventlog {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};
// For what must stand in front of that.
constexpr std::uint64_t time_before(std::uint64_t first_ns) noexcept {
  return first_ns == 0 ? 0 : first_ns - 1;
}

class Threads {
 public:
  using Index = std::uint32_t;
  static constexpr Index kNone = NumberTable::kNone;
  static constexpr std::uint64_t kSlack_ns = 1'000'000;

  struct Row {
    std::uint64_t told = 0;  // the runtime's number + 1; 0 = a thread of the system
    std::uint64_t created_ns = kNever;
    std::uint64_t finished_ns = kNever;
    std::uint64_t first_ns = kNever;     // it ran, or something else was told of it but its name
    std::uint64_t ran_from_ns = 0;       // the last time that it ran
    std::uint64_t ran_to_ns = 0;         // kNever: it runs
    std::uint32_t number = 0;            // in the log
    std::uint32_t runner = 0;            // RunThread::number of who runs it, or did
    std::uint16_t first_capability = 0;  // where it ran first, or was created
    template <class Each>
    void each(Each each) const noexcept {
      each(told), each(created_ns), each(finished_ns), each(first_ns), each(ran_from_ns), each(ran_to_ns);
      each(number), each(runner), each(first_capability);
    }
    template <class Each>
    void each(Each each) noexcept {
      each(told), each(created_ns), each(finished_ns), each(first_ns), each(ran_from_ns), each(ran_to_ns);
      each(number), each(runner), each(first_capability);
    }
  };

  std::size_t size() const noexcept { return rows_.size(); }
  const Row& operator[](Index index) const noexcept { return rows_[index]; }
  // A runtime has told of any.
  bool are_told() const noexcept { return told_ != 0; }

  // The runtime's thread, which is there behind it; kNone: no memory.
  Index of_runtime(std::uint64_t told) noexcept;
  // kNone: it was never told of.
  Index find(std::uint64_t told) const noexcept { return by_told_.find(told); }
  // A new one, of the system.
  Index of_system(std::uint32_t runner) noexcept;

  // Whether that can be, as far as is known; then it is remembered. All may move the time by what other
  // threads said of theirs.
  bool create(Index index, std::uint16_t capability, std::uint64_t& when_ns) noexcept;
  bool run(Index index, std::uint32_t runner, std::uint16_t capability, std::uint64_t& when_ns) noexcept;
  // Anything else of it: a runtime may tell of threads that are older than its telling.
  bool mention(Index index, std::uint16_t capability, std::uint64_t& when_ns) noexcept;
  void stop(Index index, std::uint32_t runner, std::uint64_t& when_ns) noexcept;
  // It did something, and its creation was never told: it is put just before, from now on.
  bool lacks_creation(Index index) const noexcept {
    return rows_[index].created_ns == kNever && rows_[index].first_ns != kNever;
  }
  void note_creation(Index index) noexcept;
  void finish(Index index, std::uint64_t when_ns) noexcept;
  bool is_finished_at(Index index, std::uint64_t when_ns) const noexcept {
    return rows_[index].finished_ns <= when_ns;
  }
  // The last time that it ran, as far as is known.
  bool is_running_at(Index index, std::uint64_t when_ns) const noexcept {
    const Row& row = rows_[index];
    return row.ran_from_ns <= when_ns && when_ns < row.ran_to_ns;
  }

  void put_changes(Bytes& state) noexcept { rows_.put_changes(state); }
  void put_all(Bytes& state) noexcept { rows_.put_all(state); }
  bool apply(ByteSource& state) noexcept;

 private:
  Index add(std::uint64_t told, std::uint64_t wish) noexcept;
  static void note_first(Row& row, std::uint16_t capability, std::uint64_t when_ns) noexcept;
  bool index(Index index) noexcept;

  StateRows<Row> rows_;
  NumberTable by_told_;
  NumberTable by_number_;
  std::uint32_t told_ = 0;
  std::uint32_t next_ = kFirstOther;  // for those whose number is taken

  static constexpr std::uint32_t kFirstOther = 1'000'000'000;
};

}  // namespace jitquill::eventlog
