#include "agent/intake/frames/frames.hpp"

#include <algorithm>
#include <atomic>

#include "agent/base/clock.hpp"
#include "agent/base/counters.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/frames/stopgap.hpp"
#include "agent/intake/gdb/gdb.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/agent.hpp"
#include "writer/unwind/eh_frame_read.hpp"

namespace jitquill::frames {
namespace {

// Other intakes hear of the same code in the same moment, or not at all.
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kWaitNs = 100 * kMs;
// A host's fopen() takes no longer, its exit(), and its _exit() or exec.
constexpr std::uint64_t kLookNs = 5 * kMs;
constexpr std::uint64_t kExitNs = 1000 * kMs;
constexpr std::uint64_t kLeaveNs = 100 * kMs;
constexpr std::uint64_t kEver = ~std::uint64_t{0};

enum class Name : std::uint8_t { kNone, kMadeUp, kTold };

struct KnownFde {
  std::uint64_t begin;
  std::uint64_t size;
  std::uint64_t registered;  // as the section was named
  FdePlace place;
  Name name;  // of a load that begins here
  std::uint64_t since_ns;
};

struct Waiting {
  std::uint64_t begin;
  std::uint64_t since_ns;
};

// Under the intakes' lock.
constinit intake::Growing<KnownFde> g_known;   // by begin
constinit intake::Growing<Waiting> g_waiting;  // for a name; the oldest first
constinit Stopgaps g_stopgaps;
constinit bool g_is_followed = false;
constinit std::uint32_t g_pid = 0;  // in which they were registered

constinit std::atomic<bool> g_knows_any{false};

bool is_wanted() noexcept {
  return agent().wants().code && (agent().wants().intakes & bit(intake::Id::frames)) != 0;
}

std::size_t rank_of(std::uint64_t begin) noexcept {
  const auto all = g_known.all();
  const auto at =
      std::lower_bound(all.begin(), all.end(), begin,
                       [](const KnownFde& known, std::uint64_t address) { return known.begin < address; });
  return static_cast<std::size_t>(at - all.begin());
}

KnownFde* find(std::uint64_t begin) noexcept {
  const std::size_t at = rank_of(begin);
  return at != g_known.size() && g_known[at].begin == begin ? &g_known[at] : nullptr;
}

bool may_tell() noexcept {
  return is_wanted() && !intake::is_left_to_own_dump();
}

// What a child inherits is in its parent's dump, and perf knows that the child has it. Also of a child of
// vfork, whose memory is its parent's.
bool is_inherited() noexcept {
  return g_pid != current_pid();
}

void tell_nameless(KnownFde& known) {
  if (known.name != Name::kNone || !may_tell() || is_inherited()) return;
  g_stopgaps.tell(known.begin, known.size, known.since_ns);
  known.name = Name::kMadeUp;  // a load told it, ours
}

// Its code is gone, or about to be. Who told a name tells of that, too.
void end(KnownFde& known) {
  tell_nameless(known);
  if (known.name == Name::kMadeUp) (void)intake::tell_unload(known.begin);
}

// Those that have waited since then, as far as the budget goes: the others next time.
void tell_waiting(std::uint64_t since_ns, intake::Budget budget) {
  const auto all = g_waiting.all();
  if (all.empty() || is_inherited()) return;
  std::size_t done = 0;
  g_stopgaps.begin_round();
  while (done < all.size() && all[done].since_ns <= since_ns && budget.allows_one_more()) {
    const Waiting& waiting = all[done++];
    KnownFde* const known = find(waiting.begin);
    if (known != nullptr && known->since_ns == waiting.since_ns) tell_nameless(*known);
  }
  g_waiting.erase_first(done);
}

void look() {
  tell_those_that_waited(intake::Budget(kLookNs));
}
void look_a_last_time() {
  tell_waiting(kEver, intake::Budget(kExitNs));
}
void tell_all() {
  tell_waiting(kEver, intake::Budget(kLeaveNs));
  const auto is_untold = [](const KnownFde& known) { return known.name == Name::kNone; };
  const bool is_all = g_waiting.size() == 0 || !may_tell();
  const std::ptrdiff_t untold = is_all ? 0 : std::ranges::count_if(g_known.all(), is_untold);
  set_count(Counter::frames_untold, static_cast<std::uint64_t>(untold));
}

// Code at a used address: the older registration was not taken back.
void keep(const KnownFde& fde) noexcept {
  const std::size_t at = rank_of(fde.begin);
  if (at < g_known.size() && g_known[at].begin == fde.begin) {
    end(g_known[at]);
    g_known[at] = fde;
  } else if (!g_known.insert(at, fde)) {
    return count(Counter::news_out_of_memory);
  }
  if (!g_waiting.push({fde.begin, fde.since_ns})) count(Counter::news_out_of_memory);
}

void begin_in_this_process() {
  if (!g_is_followed) intake::follow({look, look_a_last_time});
  g_is_followed = true;
  if (is_inherited()) {
    for (KnownFde& known : g_known.all()) known.name = Name::kTold;
    g_waiting.release();
  }
  g_pid = current_pid();
  intake::put_off(tell_all);
  // What is dated back must not be older than its dump, as far as perf is concerned.
  if (!intake::is_left_to_own_dump()) (void)intake::open_outputs();
}

template <class See>
void for_each_fde(const SectionCopy& copy, See see) {
  unwind::FdeWalk walk(copy.bytes.view(), copy.address);
  while (const auto fde = walk.next()) {
    if (fde->pc_begin != 0 && fde->pc_size != 0) see(*fde);  // else of a function that was left out
  }
}

void keep_all(std::uint64_t registered) {
  const SectionCopy copy = copy_section(registered);
  const std::uint64_t now_ns = monotonic_ns();
  g_stopgaps.begin_round();
  for_each_fde(copy, [&](const unwind::FoundFde& fde) {
    count(Counter::frames_heard);
    keep({fde.pc_begin, fde.pc_size, registered, place_of(copy, fde.address), Name::kNone, now_ns});
  });
  g_knows_any.store(g_known.size() != 0, std::memory_order_relaxed);
}

void tell_final(std::uint64_t registered) {
  const SectionCopy copy = copy_section(registered);
  for_each_fde(copy, [](const unwind::FoundFde& fde) { gdb::became_final(fde.pc_begin, fde.pc_size); });
}

}  // namespace

bool knows_any() noexcept {
  return g_knows_any.load(std::memory_order_relaxed);
}

// A JIT is at work: it may have come with a library since the last look. What it registers is kept before
// anybody tells of its code.
void came(const void* section) {
  const auto registered = reinterpret_cast<std::uint64_t>(section);
  if (is_wanted() && registered != 0) {
    (void)intake::under_intake_lock([&] {
      begin_in_this_process();
      keep_all(registered);
    });
  }
  intake::look_around_in_jit();
  if (registered == 0 || !gdb::anything_waits()) return;
  (void)intake::under_intake_lock([&] { tell_final(registered); });
}

void went(const void* section) {
  if (!knows_any()) return;
  (void)intake::under_intake_lock([&] {
    const auto is_of_it = [&](const KnownFde& known) {
      return known.registered == reinterpret_cast<std::uint64_t>(section);
    };
    g_stopgaps.begin_round();
    for (KnownFde& known : g_known.all()) {
      if (is_of_it(known)) end(known);
    }
    g_known.keep_if([&](const KnownFde& known) { return !is_of_it(known); });
  });
}

void tell_those_that_waited(intake::Budget budget) {
  tell_waiting(monotonic_ns() - kWaitNs, budget);
}

KnownUnwinding::KnownUnwinding(CodeLoad& load) noexcept {
  KnownFde* const known = find(load.address);
  if (known == nullptr) return;
  known->name = Name::kTold;
  if (load.unwinding.kind != Unwinding::Kind::kUnknown) return;
  section_ = copy_fde(known->place);
  const auto fde = unwind::find_fde(section_.bytes.view(), section_.address, load.address, load.bytes.size());
  if (!fde) return;
  load.unwinding.kind = Unwinding::Kind::kReady;
  load.unwinding.ready = fde->cfi;
}

}  // namespace jitquill::frames

namespace jitquill::intake {

// Nothing in an object says that it will register frames: the borrowed functions do (preload/).
bool look_for_frames(const ElfObject&) {
  return false;
}
void start_frames() {}

}  // namespace jitquill::intake
