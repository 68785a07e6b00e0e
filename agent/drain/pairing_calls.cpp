// What nearly all records are: entries and exits on the stack of the record before, of which each puts a
// frame on top or takes the topmost away. pairing.cpp has the rules; this does the same with no branch that
// depends on which of the two a record is, since no CPU can guess that of a program, and with all that
// changes in registers. The first record that is not so plain ends the run, and is pairing.cpp's.
#include <algorithm>
#include <cstddef>

#include "agent/drain/pairing.hpp"

namespace jitquill::drain {
namespace {

using lanes::RecordKind;

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kOne = std::uint64_t{1} << Frame::kHigh;  // of a place, and of a depth
constexpr std::size_t kMostAtOnce = 256;
constexpr std::size_t kFirstAtOnce = 8;

// Events are written as words.
using Word [[gnu::may_alias]] = std::uint64_t;
static_assert(offsetof(RunEvent, when_ns) == 0 && offsetof(RunEvent, since_ns) == 8);
static_assert(offsetof(RunEvent, amount) == 16 && offsetof(RunEvent, function) == 24);
static_assert(offsetof(RunEvent, depth) == 28 && offsetof(RunEvent, kind) == 32);
static_assert(offsetof(RunEvent, end) == 33 && offsetof(RunEvent, stack) == 34);
static_assert(offsetof(RunEvent, reserved) == 36 && sizeof(RunEvent) == 40);

constexpr std::uint64_t last_word(RunEventKind kind, FrameEnd end) noexcept {
  return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(end) << 8;
}

// What a kind of record does, as numbers.
struct Row {
  std::uint64_t exit_mask;  // all bits, or none
  // `where` of the frame on top less the record's own: an exit's is the same, an entry's 1 or more places
  // above. So much at least, and so much more at most.
  std::uint64_t least;
  std::uint64_t more;
  std::uint64_t last_word;  // of its event, but for the stack
  std::uint64_t deeper;
  std::ptrdiff_t step;
  std::uint64_t reserved[2];
};
static_assert(sizeof(Row) == 64);

constexpr std::uint64_t kHighest = std::uint64_t{OpenFrames::kGround} << Frame::kHigh;
constexpr Row kEntry{0, kOne, kHighest, last_word(RunEventKind::kEnter, FrameEnd::kNone), kOne, 1, {}};
constexpr Row exit_row(FrameEnd how) noexcept {
  return {kAll, 0, 0, last_word(RunEventKind::kLeave, how), 0 - kOne, -1, {}};
}
constexpr Row kNotPlain{0, 1, 0, 0, 0, 0, {}};  // no two are 1 apart

struct Rows {
  constexpr Rows() noexcept {
    for (Row& row : of) row = kNotPlain;
    of[static_cast<std::size_t>(RecordKind::kEnter)] = kEntry;
    of[static_cast<std::size_t>(RecordKind::kEnterAddress)] = kEntry;
    of[static_cast<std::size_t>(RecordKind::kLeave)] = exit_row(FrameEnd::kReturned);
    of[static_cast<std::size_t>(RecordKind::kTail)] = exit_row(FrameEnd::kTailCalled);
  }
  Row of[16];
};
alignas(64) constexpr Rows kRows;

// What records say, whatever is open.
struct Plain {
  std::uint64_t when_ns[kMostAtOnce];
  std::uint64_t where[kMostAtOnce];
  std::uint64_t entered[kMostAtOnce];
};

// The part of a stack that its last frame is in: there may be another stack in the middle of it.
struct Part {
  explicit Part(Stack& stack) noexcept : anchor(stack.anchor), low(stack.low), span(stack.span) {
    if (stack.hole_span == 0) return;
    const std::uint32_t end = low + span;
    const bool is_below = !stack.frames.empty() && stack.frames.back().place() < stack.hole;
    const std::uint32_t to = is_below ? std::min(end, stack.hole) : end;
    if (!is_below) low = std::max(low, stack.hole + stack.hole_span);
    span = to > low ? to - low : 0;
  }
  std::uint32_t anchor, low, span;
};

// How many of the first lie there. Those that are known by their addresses are not known without natives.
template <bool kHasNatives>
std::size_t read_plain(std::span<const Taken> records, Stack& stack, std::uint64_t now_ns,
                       const Surroundings& around, Plain& to) noexcept {
  const Clock::Line line = around.clock.line();
  const Functions::Ids ids = around.functions.ids();
  const Part part(stack);
  std::size_t count = 0;
  for (; count < records.size(); ++count) {
    const Taken& record = records[count];
    const std::uint32_t place = (record.slot - part.anchor) & lanes::kSlotMask;
    if (place - part.low >= part.span || !line.has(record.ticks)) [[unlikely]]
      break;
    now_ns = std::max(now_ns, line.ns_of(record.ticks));
    FunctionNumber entered = ids.number(record.what);
    if (record.kind == RecordKind::kEnterAddress)
      entered = kHasNatives ? around.functions.by_address(record.what, now_ns) : Functions::kNone;
    to.when_ns[count] = now_ns;
    to.where[count] = Frame::where_of(place, 0);
    to.entered[count] = entered;
  }
  return count;
}

}  // namespace

// How many there are up to the first that neither goes on top nor ends what is there. Hidden frames have no
// events.
template <bool kHasNatives, class Plain>
std::size_t Pairing::pair_plain(std::span<const Taken> records, const Plain& plain, Stack& stack,
                                EventBuffer& buffer) noexcept {
  OpenFrames& frames = stack.frames;
  RunEvent* event = buffer.room().data();
  const RunEvent* const first_event = event;
  const std::uint64_t stack_word = std::uint64_t{told_number_of(stack)} << 16;
  const Frame* const limit = frames.limit();
  Frame* top = frames.end();
  const Frame* lowest = top + 1;
  std::uint64_t open = std::uint64_t{open_} << Frame::kHigh;
  std::size_t i = 0;
  for (; i < records.size(); ++i) {
    const Row& row = kRows.of[static_cast<std::size_t>(records[i].kind) & 15];
    Frame& last = top[-1];
    const std::uint64_t entered = plain.entered[i] + open;
    const std::uint64_t who = entered ^ ((entered ^ last.who) & row.exit_mask);
    const auto function = static_cast<FunctionNumber>(who);
    if (last.where - plain.where[i] - row.least > row.more || function == Functions::kNone || top == limit)
        [[unlikely]]
      break;
    const std::uint64_t now_ns = plain.when_ns[i];
    const std::uint64_t lasted_ns = (now_ns - last.since_ns) & row.exit_mask;
    auto* const words = reinterpret_cast<Word*>(event);
    words[0] = now_ns;
    words[1] = last.since_ns & row.exit_mask;
    words[2] = std::min(last.inside_ns, lasted_ns);
    words[3] = who;
    words[4] = row.last_word | stack_word;
    const bool is_told = !kHasNatives || function != Functions::kHidden;
    top[-2].inside_ns += is_told ? lasted_ns : last.inside_ns & row.exit_mask;
    *top = {now_ns, 0, entered, plain.where[i]};  // of an exit behind the end
    event += is_told ? 1 : 0;
    open += is_told ? row.deeper : 0;
    top += row.step;
    lowest = std::min<const Frame*>(lowest, top);
  }
  if (i == 0) return 0;
  const auto told = static_cast<std::size_t>(event - first_event);
  const auto still_open = static_cast<std::uint32_t>(open >> Frame::kHigh);
  buffer.took(told);
  calls_ += (told + std::uint64_t{still_open} - open_) / 2;
  open_ = still_open;
  last_ns_ = plain.when_ns[i - 1];
  frames.set_end(top);
  const std::ptrdiff_t least = std::max(lowest - frames.begin() - 1, std::ptrdiff_t{0});
  stack.kept = std::min(stack.kept, static_cast<std::size_t>(least));
  return i;
}

template <bool kHasNatives>
std::size_t Pairing::take_plain(std::span<const Taken> records, Stack& stack,
                                const Surroundings& around) noexcept {
  Plain plain;
  const std::size_t count = read_plain<kHasNatives>(records, stack, last_ns_, around, plain);
  return pair_plain<kHasNatives>(records.first(count), plain, stack, around.events);
}

// From the first on. On a signal stack a frame may be around those of another.
std::size_t Pairing::take_calls(std::span<const Taken> records, const Surroundings& around) noexcept {
  Stack* const stack = stacks_.current();
  const bool is_plain = stack != nullptr && stack->under == Stack::kNone && open_ < kMostOpen;
  if (!is_plain || !stack->frames.reserve_one()) return 0;
  const std::size_t most =
      std::min({records.size(), around.events.room().size(), at_once_, std::size_t{kMostOpen - open_}});
  const std::size_t taken = around.functions.has_natives()
                                ? take_plain<true>(records.first(most), *stack, around)
                                : take_plain<false>(records.first(most), *stack, around);
  at_once_ = taken == most ? std::min(2 * at_once_, kMostAtOnce) : kFirstAtOnce;
  return taken;
}

}  // namespace jitquill::drain
