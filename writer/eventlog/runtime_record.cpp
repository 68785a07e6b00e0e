#include "writer/eventlog/runtime_record.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "writer/eventlog/record.hpp"

namespace jitquill::eventlog {
namespace {

namespace field = event_field;

using Moment = RuntimePlace;
using Put = Status (*)(const RuntimeEvent& event, const Moment& at, Bytes& out);

template <class Value>
Value largest_below(std::uint64_t value) noexcept {
  return static_cast<Value>(std::min<std::uint64_t>(value, std::numeric_limits<Value>::max()));
}
std::uint32_t id_of(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

template <Event kEvent>
Status put_bare(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out);
}
template <Event kEvent>
Status put_text(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, event.text());
}
template <Event kEvent>
Status put_thread(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, at.thread);
}
template <Event kEvent>
Status put_capability(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, at.other);
}
// The event's first field is its only one there.
template <Event kEvent>
Status put_number(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, event.number(0));
}
template <Event kEvent>
Status put_of_heap(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, kProcessSet, event.number(0));
}
template <Event kEvent>
Status put_thread_to(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<kEvent>(at.when_ns, out, at.thread, at.other);
}

// By the word in the event's first field: rows[word - 1]; the first for words that are not known.
template <std::size_t kRows>
Status put_by_word(const Put (&rows)[kRows], const RuntimeEvent& event, const Moment& at, Bytes& out) {
  const std::uint64_t word = event.number(0);
  return rows[word >= 1 && word <= kRows ? word - 1 : 0](event, at, out);
}

// Why it stopped, as GHC numbers it: only such numbers as no reader aborts at. By word - 1.
constexpr std::uint16_t kStopStatus[] = {
    3,   // kYielded
    1,   // kHeapFull
    2,   // kStackFull
    6,   // kForeignCall
    7,   // kLock: MVar
    20,  // kRead: MVar read
    8,   // kLazyValue: black hole, info is its owner
    9,   // kInput
    10,  // kOutput
    11,  // kSleep
    12,  // kTransaction
    13,  // kProcess
    7,   // kThrow: 18, at which readers abort or are wrong
    3,   // kMigration: 19, likewise
};
static_assert(event_word::kStopReason::kMigration == std::size(kStopStatus));
constexpr std::uint16_t kStopFinished = 5;

Status put_stop(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  const std::uint64_t reason = event.number(field::thread_stopped::reason);
  const std::uint16_t status = kStopStatus[reason >= 1 && reason <= std::size(kStopStatus) ? reason - 1 : 0];
  return put<Event::kStopThread>(at.when_ns, out, at.thread, status, at.info);
}

Status put_finish(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<Event::kStopThread>(at.when_ns, out, at.thread, kStopFinished, std::uint32_t{0});
}

Status put_name(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<Event::kThreadLabel>(at.when_ns, out, at.thread, event.text());
}

Status put_spark_thread(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  (void)put_thread<Event::kCreateThread>(event, at, out);
  return put_thread<Event::kCreateSparkThread>(event, at, out);
}

constexpr Put kRequests[] = {put_bare<Event::kRequestSeqGc>, put_bare<Event::kRequestParGc>};
constexpr Put kPhases[] = {put_bare<Event::kGcWork>, put_bare<Event::kGcWork>, put_bare<Event::kGcWork>,
                           put_bare<Event::kGcWork>, put_bare<Event::kGcIdle>, put_bare<Event::kGcDone>};
static_assert(event_word::kGcPhase::kDone == std::size(kPhases) && event_word::kGcPhase::kIdle == 5);

Status put_request(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put_by_word(kRequests, event, at, out);
}
Status put_phase(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put_by_word(kPhases, event, at, out);
}

Status put_gc_statistics(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::gc_statistics;
  return put<Event::kGcStatsGhc>(
      at.when_ns, out, kProcessSet, largest_below<std::uint16_t>(event.number(f::generation)),
      event.number(f::copied), event.number(f::slop), event.number(f::fragmentation),
      largest_below<std::uint32_t>(event.number(f::threads)), event.number(f::most_copied),
      event.number(f::all_copied), event.number(f::balanced_copied));
}

Status put_mark_end(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<Event::kConcMarkEnd>(at.when_ns, out,
                                  largest_below<std::uint32_t>(event.number(field::concurrent_end::marked)));
}

constexpr Put kConcurrentBegins[] = {put_bare<Event::kConcMarkBegin>, put_bare<Event::kConcSyncBegin>,
                                     put_bare<Event::kConcSweepBegin>};
constexpr Put kConcurrentEnds[] = {put_mark_end, put_bare<Event::kConcSyncEnd>,
                                   put_bare<Event::kConcSweepEnd>};

Status put_concurrent_begin(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put_by_word(kConcurrentBegins, event, at, out);
}
Status put_concurrent_end(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put_by_word(kConcurrentEnds, event, at, out);
}

Status put_flush(const RuntimeEvent&, const Moment& at, Bytes& out) {
  return put<Event::kConcUpdRemSetFlush>(at.when_ns, out, at.capability);
}

Status put_census(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::heap_census;
  if (at.level < Level::k9_12) {
    const auto log2 = std::bit_width(std::max<std::uint64_t>(event.number(f::block_size), 1)) - 1;
    return put<Event::kNonmovingHeapCensus9_4>(
        at.when_ns, out, static_cast<std::uint8_t>(log2), id_of(event.number(f::active_segments)),
        id_of(event.number(f::filled_segments)), id_of(event.number(f::live_blocks)));
  }
  return put<Event::kNonmovingHeapCensus>(
      at.when_ns, out, largest_below<std::uint16_t>(event.number(f::block_size)),
      id_of(event.number(f::active_segments)), id_of(event.number(f::filled_segments)),
      id_of(event.number(f::live_blocks)));
}

Status put_pruned(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::segments_pruned;
  if (at.level < Level::k9_12) return Status::kOk;
  return put<Event::kNonmovingPrunedSegments>(at.when_ns, out, id_of(event.number(f::pruned)),
                                              id_of(event.number(f::kept)));
}

Status put_heap_info(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::heap_info;
  return put<Event::kHeapInfoGhc>(at.when_ns, out, kProcessSet,
                                  largest_below<std::uint16_t>(event.number(f::generations)),
                                  event.number(f::most), event.number(f::allocation_area),
                                  event.number(f::large_block), event.number(f::small_block));
}

Status put_returned(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::heap_returned;
  return put<Event::kMemReturn>(at.when_ns, out, kProcessSet, id_of(event.number(f::current)),
                                id_of(event.number(f::needed)), id_of(event.number(f::returned)));
}

constexpr Put kSparks[] = {put_bare<Event::kSparkCreate>,   put_bare<Event::kSparkDud>,
                           put_bare<Event::kSparkOverflow>, put_bare<Event::kSparkRun>,
                           put_bare<Event::kSparkFizzle>,   put_bare<Event::kSparkGc>};
static_assert(event_word::kSpark::kCollected == std::size(kSparks));

Status put_spark(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put_by_word(kSparks, event, at, out);
}

// In the order of GHC, where what was collected stands in front of what fizzled.
Status put_spark_counters(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::spark_counters;
  return put<Event::kSparkCounters>(at.when_ns, out, event.number(f::created), event.number(f::dud),
                                    event.number(f::overflowed), event.number(f::converted),
                                    event.number(f::collected), event.number(f::fizzled),
                                    event.number(f::remaining));
}

Status put_runtime_name(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<Event::kRtsIdentifier>(at.when_ns, out, kProcessSet, event.text());
}

Status put_binary(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(event.text().data());
  return put<Event::kUserBinaryMsg>(at.when_ns, out,
                                    std::span<const std::uint8_t>(bytes, event.text().size()));
}

Status put_counter_name(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  if (!at.own) return Status::kOk;
  return put<Event::kCounterNamed>(at.when_ns, out, id_of(event.number(0)), event.text());
}

Status put_counter(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  if (!at.own) return Status::kOk;
  return put<Event::kCounterValue>(at.when_ns, out, id_of(event.number(0)),
                                   event.number(field::counter::value));
}

// A cost centre, without a module.
Status put_site(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  constexpr std::string_view kNone;
  return put<Event::kHeapProfCostCentre>(at.when_ns, out, id_of(event.number(0)), event.text(), kNone, kNone,
                                         std::uint8_t{0});
}

Status put_allocated(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  if (!at.own) return Status::kOk;
  namespace f = field::allocated;
  return put<Event::kAllocatedAtSite>(at.when_ns, out, id_of(event.number(f::site)), event.number(f::objects),
                                      event.number(f::size));
}

// An unknown breakdown is an error for readers, and 9 (era) for those before ghc-events 0.20. By word - 1.
constexpr std::uint32_t kBreakdowns[] = {1, 2, 3, 4, 5, 6, 9};
constexpr std::uint32_t kByType = 4, kByEra = 9;
static_assert(event_word::kBandKind::kEra == std::size(kBreakdowns));
constexpr std::uint8_t kProfile = 0;  // the only one at a time

Status put_profile_begin(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  constexpr std::string_view kNone;
  const std::uint64_t bands = event.number(field::heap_profile_begin::bands);
  std::uint32_t breakdown = bands >= 1 && bands <= std::size(kBreakdowns) ? kBreakdowns[bands - 1] : kByType;
  if (breakdown == kByEra && at.level < Level::k9_12) breakdown = kByType;
  return put<Event::kHeapProfBegin>(at.when_ns, out, kProfile,
                                    event.number(field::heap_profile_begin::period), breakdown, kNone, kNone,
                                    kNone, kNone, kNone, kNone, kNone);
}

Status put_band(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  return put<Event::kHeapProfSampleString>(at.when_ns, out, kProfile, event.number(0), event.text());
}

Status put_site_band(const RuntimeEvent& event, const Moment& at, Bytes& out) {
  namespace f = field::heap_sample_site;
  const std::uint32_t stack[] = {id_of(event.number(f::site))};
  return put<Event::kHeapProfSampleCostCentre>(at.when_ns, out, kProfile, event.number(f::size),
                                               std::span<const std::uint32_t>(stack));
}

struct Row {
  RuntimeEventKind kind;
  Where where;
  Put put;
};

using Kind = RuntimeEventKind;
constexpr Where kHere = Where::kCapability, kOutside = Where::kOutside, kOfSink = Where::kOfSink;

// In the order of runtime_event.def.
constexpr Row kRows[] = {
    {Kind::kThreadCreated, kHere, put_thread<Event::kCreateThread>},
    {Kind::kThreadRunnable, kHere, put_thread<Event::kThreadRunnable>},
    {Kind::kThreadRunning, kHere, put_thread<Event::kRunThread>},
    {Kind::kThreadStopped, kHere, put_stop},
    {Kind::kThreadFinished, kHere, put_finish},
    {Kind::kThreadMigrated, kHere, put_thread_to<Event::kMigrateThread>},
    {Kind::kThreadWoken, kHere, put_thread_to<Event::kThreadWakeup>},
    {Kind::kThreadNamed, kHere, put_name},
    {Kind::kSparkThreadCreated, kHere, put_spark_thread},
    {Kind::kCapabilityCreated, kOutside, put_capability<Event::kCapCreate>},
    {Kind::kCapabilityDeleted, kOutside, put_capability<Event::kCapDelete>},
    {Kind::kCapabilityDisabled, kOutside, put_capability<Event::kCapDisable>},
    {Kind::kCapabilityEnabled, kOutside, put_capability<Event::kCapEnable>},
    {Kind::kCapabilityTaken, kOfSink, nullptr},
    {Kind::kCapabilityLeft, kOfSink, nullptr},
    {Kind::kGcRequested, kHere, put_request},
    {Kind::kGcBegin, kHere, put_bare<Event::kGcStart>},
    {Kind::kGcSynced, kHere, put_bare<Event::kGcGlobalSync>},
    {Kind::kGcPhase, kHere, put_phase},
    {Kind::kGcStatistics, kHere, put_gc_statistics},
    {Kind::kGcEnd, kHere, put_bare<Event::kGcEnd>},
    {Kind::kConcurrentBegin, kHere, put_concurrent_begin},
    {Kind::kConcurrentEnd, kHere, put_concurrent_end},
    {Kind::kRememberedFlushed, kHere, put_flush},
    {Kind::kHeapCensus, kHere, put_census},
    {Kind::kSegmentsPruned, kHere, put_pruned},
    {Kind::kHeapInfo, kOutside, put_heap_info},
    {Kind::kHeapAllocated, kHere, put_of_heap<Event::kHeapAllocated>},
    {Kind::kHeapSize, kHere, put_of_heap<Event::kHeapSize>},
    {Kind::kHeapBlocks, kHere, put_of_heap<Event::kBlocksSize>},
    {Kind::kHeapLive, kHere, put_of_heap<Event::kHeapLive>},
    {Kind::kHeapReturned, kHere, put_returned},
    {Kind::kSpark, kHere, put_spark},
    {Kind::kSparkStolen, kHere, put_capability<Event::kSparkSteal>},
    {Kind::kSparkCounters, kHere, put_spark_counters},
    {Kind::kRuntimeNamed, kOutside, put_runtime_name},
    {Kind::kMarker, kHere, put_text<Event::kUserMarker>},
    {Kind::kMessage, kHere, put_text<Event::kUserMsg>},
    {Kind::kRuntimeMessage, kHere, put_text<Event::kLogMsg>},
    {Kind::kBinaryMessage, kHere, put_binary},
    {Kind::kCounterNamed, kOutside, put_counter_name},
    {Kind::kCounter, kHere, put_counter},
    {Kind::kAllocationSite, kOutside, put_site},
    {Kind::kAllocated, kHere, put_allocated},
    {Kind::kHeapProfileBegin, kOutside, put_profile_begin},
    {Kind::kHeapSampleBegin, kOutside, put_number<Event::kHeapProfSampleBegin>},
    {Kind::kHeapSampleBand, kOutside, put_band},
    {Kind::kHeapSampleSite, kOutside, put_site_band},
    {Kind::kHeapSampleEnd, kOutside, put_number<Event::kHeapProfSampleEnd>},
};

constexpr RuntimeEventKind kKinds[] = {
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) RuntimeEventKind::name,
#include "writer/model/runtime_event.def"
};
static_assert(std::ranges::equal(kRows, kKinds, {}, &Row::kind));

const Row& row_of(RuntimeEventKind kind) noexcept {
  return *std::ranges::lower_bound(kRows, kind, {}, &Row::kind);
}

}  // namespace

Where where(RuntimeEventKind kind) noexcept {
  return row_of(kind).where;
}

RuntimePlace place_of(const RuntimeEvent& event, std::uint64_t when_ns, std::uint16_t capability) noexcept {
  RuntimePlace place{when_ns, capability, 0, 0, 0, Level::k9_12, true};
  if (event.row() == nullptr) return place;
  const Kind kind = event.row()->kind;
  const bool is_of_thread = kind < Kind::kCapabilityCreated;
  if (is_of_thread) place.thread = id_of(event.number(0));
  if (kind == Kind::kThreadStopped) place.info = id_of(event.number(field::thread_stopped::info));
  place.other = static_cast<std::uint16_t>(event.number(is_of_thread ? 1 : 0));
  return place;
}

Status put_runtime_event(const RuntimeEvent& event, const RuntimePlace& place, Bytes& out) noexcept {
  if (event.row() == nullptr) return Status::kOk;
  const Row& row = row_of(event.row()->kind);
  return row.put == nullptr ? Status::kOk : row.put(event, place, out);
}

}  // namespace jitquill::eventlog
