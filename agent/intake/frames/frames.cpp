#include "agent/intake/frames/frames.hpp"

#include <algorithm>
#include <atomic>

#include "agent/base/counters.hpp"
#include "agent/intake/frames/section_copy.hpp"
#include "agent/intake/gdb/gdb.hpp"
#include "agent/intake/intake.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/life/agent.hpp"
#include "writer/unwind/eh_frame_read.hpp"

namespace jitquill::frames {
namespace {

struct KnownFde {
  std::uint64_t begin;
  std::uint64_t registered;  // as the section was named
  std::uint64_t section;     // where its bytes begin
  std::uint32_t section_size;
  bool is_named;  // somebody told a load that begins here
};

// Under the intakes' lock.
constinit intake::Growing<KnownFde> g_known;  // by begin
constinit bool g_is_followed = false;

constinit std::atomic<bool> g_knows_any{false};

bool is_wanted() noexcept {
  return agent().wants_code() && (agent().wanted_intakes() & bit(intake::Id::frames)) != 0;
}

std::size_t place_of(std::uint64_t begin) noexcept {
  const auto all = g_known.all();
  const auto at =
      std::lower_bound(all.begin(), all.end(), begin,
                       [](const KnownFde& known, std::uint64_t address) { return known.begin < address; });
  return static_cast<std::size_t>(at - all.begin());
}

void count_nameless(const KnownFde& known) noexcept {
  if (!known.is_named) count(Counter::frames_nameless);
}

// Code at a used address: the older registration was not taken back.
void keep(const KnownFde& fde) noexcept {
  const std::size_t at = place_of(fde.begin);
  if (at < g_known.size() && g_known[at].begin == fde.begin) {
    count_nameless(g_known[at]);
    g_known[at] = fde;
  } else if (!g_known.insert(at, fde)) {
    count(Counter::news_out_of_memory);
  }
}

void count_all_nameless() {
  for (const KnownFde& known : g_known.all()) count_nameless(known);
  g_known.release();
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
  const auto size = static_cast<std::uint32_t>(copy.bytes.view().size());
  for_each_fde(copy, [&](const unwind::FoundFde& fde) {
    count(Counter::frames_heard);
    keep({fde.pc_begin, registered, copy.address, size, false});
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
      if (!g_is_followed) intake::follow({[] {}, count_all_nameless});
      g_is_followed = true;
      keep_all(registered);
    });
  }
  intake::look_around();
  if (registered == 0 || !gdb::anything_waits()) return;
  (void)intake::under_intake_lock([&] { tell_final(registered); });
}

void went(const void* section) {
  if (!knows_any()) return;
  (void)intake::under_intake_lock([&] {
    g_known.keep_if([&](const KnownFde& known) {
      if (known.registered != reinterpret_cast<std::uint64_t>(section)) return true;
      count_nameless(known);
      return false;
    });
  });
}

KnownUnwinding::KnownUnwinding(CodeLoad& load) noexcept {
  const std::size_t at = place_of(load.address);
  if (at == g_known.size() || g_known[at].begin != load.address) return;
  KnownFde& known = g_known[at];
  known.is_named = true;
  if (load.unwinding.kind != Unwinding::Kind::kUnknown) return;
  section_ = copy_bytes(known.section, known.section_size);
  const auto fde = unwind::find_fde(section_.view(), known.section, load.address, load.bytes.size());
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
