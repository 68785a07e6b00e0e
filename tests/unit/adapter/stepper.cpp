#include "tests/unit/adapter/stepper.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/adapter/frame_reader.hpp"
#include "tests/unit/writer/cfi_reader.hpp"
#include "writer/unwind/frame_walk.hpp"

extern "C" std::uint64_t stepped_call(const void* function, const std::uint64_t* arguments);

namespace stepper {
namespace {

// Where the kernel keeps each DWARF register.
constexpr std::array<int, 16> kRegister = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15};
constexpr std::size_t kFramePointer = 6;
constexpr std::size_t kStackPointer = 7;
constexpr std::size_t kReturnAddress = 16;
constexpr std::size_t kMaxStack = 64 * 1024;

struct Run {
  std::uint64_t start = 0, end = 0;
  Trace trace;
};
Run* now = nullptr;

// The trap comes from the stepped code itself, never from inside malloc: the handler may allocate.
void on_trap(int, siginfo_t*, void* raw) {
  const auto& context = *static_cast<const ucontext_t*>(raw);
  const auto ip = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (ip < now->start || ip >= now->end) return;
  Step step;
  step.offset = static_cast<std::uint32_t>(ip - now->start);
  for (std::size_t reg = 0; reg < step.registers.size(); ++reg)
    step.registers[reg] = static_cast<std::uint64_t>(context.uc_mcontext.gregs[kRegister[reg]]);
  const std::uint64_t sp = step.registers[kStackPointer];
  if (now->trace.steps.empty()) now->trace.cfa = sp + 8;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(sp);
  if (now->trace.cfa - sp <= kMaxStack) step.stack.assign(bytes, bytes + (now->trace.cfa - sp));
  now->trace.steps.push_back(std::move(step));
}

using Events = std::vector<jitquill_frame_event>;

std::string at(const Step& step, const char* what) {
  return std::string(what) + " at " + std::to_string(step.offset);
}

std::optional<std::uint64_t> cfa_of(const frames::Frame& frame, const Step& step) {
  const auto offset = static_cast<std::uint64_t>(frame.cfa_offset);
  if (frame.cfa_word < 0) return step.registers[static_cast<std::size_t>(frame.cfa_register)] + offset;
  const auto word = step.load(step.registers[kStackPointer] + static_cast<std::uint64_t>(frame.cfa_word));
  return word ? std::optional(*word + offset) : std::nullopt;
}

bool has_kind(const Events& events, jitquill_frame_kind kind) {
  return std::ranges::any_of(events, [&](const jitquill_frame_event& event) { return event.kind == kind; });
}

struct Expected {
  const Trace& trace;
  std::uint32_t preserved = 0;
  bool keeps_frame_pointer = false;  // rbp stays where it was set to the stack pointer
};

// `is_aligned`: has the stack pointer gone down by an amount that only run time knows?
std::string mismatch(const frames::Frame& frame, const Step& step, const Expected& expected,
                     bool is_aligned) {
  const std::uint64_t cfa = expected.trace.cfa;
  if (!frame.valid) return at(step, "events make no sense");
  if (cfa_of(frame, step) != cfa) return at(step, "CFA");
  const auto depth = static_cast<std::int64_t>(cfa - step.registers[kStackPointer]);
  if (!is_aligned && depth != frame.depth) return at(step, "depth of the stack pointer");
  // rbp pushed first and set to the stack pointer: from there to its pop the frame is found through it, since
  // the stack pointer may move unseen.
  const bool has_frame_pointer = expected.keeps_frame_pointer && step.registers[kFramePointer] == cfa - 16;
  if (has_frame_pointer && frame.cfa_register != kFramePointer) return at(step, "frame pointer not used");
  for (std::size_t reg = 0; reg < step.registers.size(); ++reg) {
    if ((expected.preserved >> reg & 1) == 0) continue;
    const std::int64_t below = frame.below[reg];
    if (below > depth) return at(step, "a save below the stack pointer");
    const auto found = below == 0 ? step.registers[reg] : step.load(cfa - static_cast<std::uint64_t>(below));
    if (found != expected.trace.steps.front().registers[reg]) return at(step, "a saved register");
  }
  return {};
}

bool is_true(const capture::Code& code, const Events& events, const std::vector<Trace>& traces,
             std::uint32_t preserved) {
  return std::ranges::all_of(
      traces, [&](const Trace& trace) { return first_mismatch(code, events, trace, preserved).empty(); });
}

bool has_register(const jitquill_frame_event& event) {
  return event.kind == JITQUILL_FRAME_PUSH || event.kind == JITQUILL_FRAME_POP ||
         event.kind == JITQUILL_FRAME_SAVE || event.kind == JITQUILL_FRAME_RESTORE ||
         event.kind == JITQUILL_FRAME_SET_FRAME;
}

// Where the instruction begins that ends at `offset`.
std::uint32_t instruction_before(const std::vector<Trace>& traces, std::uint32_t offset) {
  std::uint32_t start = 0;
  for (const Trace& trace : traces)
    for (const Step& step : trace.steps)
      if (step.offset < offset) start = std::max(start, step.offset);
  return start;
}

Events shifted(Events events, std::size_t row, std::uint32_t to) {
  const std::uint32_t from = events[row].offset;
  for (std::size_t i = row; i < events.size() && events[i].offset == from; ++i) events[i].offset = to;
  return events;
}

// The event at another instruction: one of these must be wrong. A copy of a saved value stays true beside the
// register, as does a register beside the word that holds the frame. Where the frame is found through a
// register before that is needed, that is true an instruction later too; where it is found so as late as
// possible, an instruction earlier.
std::vector<Events> at_other_places(const Events& events, std::size_t row, const std::vector<Trace>& traces) {
  const std::uint32_t offset = events[row].offset;
  const Events earlier = shifted(events, row, instruction_before(traces, offset));
  const Events later = shifted(events, row, offset + 1);
  switch (events[row].kind) {
    case JITQUILL_FRAME_REMEMBER:
    case JITQUILL_FRAME_SAVE:
    case JITQUILL_FRAME_RESTORE:
      return {};
    case JITQUILL_FRAME_SET_FRAME:
      return {earlier, later};
    case JITQUILL_FRAME_FRAME_IN_MEMORY:
      return {earlier};
    default:
      return {later};
  }
}

// The event left out, at another place, with another value, with another register. Of each group at least one
// must be wrong.
std::vector<std::vector<Events>> spoil(const Events& events, std::size_t row,
                                       const std::vector<Trace>& traces) {
  Events dropped = events;
  dropped.erase(dropped.begin() + static_cast<std::ptrdiff_t>(row));
  std::vector<std::vector<Events>> groups{{dropped}};
  groups.push_back(at_other_places(events, row, traces));
  if (events[row].value != 0 || events[row].kind == JITQUILL_FRAME_FRAME_IN_MEMORY) {
    groups.push_back({events});
    groups.back().back()[row].value += 8;
  }
  if (has_register(events[row])) {
    groups.push_back({events});
    groups.back().back()[row].reg = events[row].reg == 3 ? 12 : 3;
  }
  return groups;
}

std::span<const jitquill::FrameEvent> as_writers(const Events& events) {
  return {reinterpret_cast<const jitquill::FrameEvent*>(events.data()), events.size()};
}

jitquill::tests::CfaRule rule_of(const frames::Frame& frame) {
  jitquill::tests::CfaRule rule{frame.cfa_register, frame.cfa_offset, std::nullopt};
  if (frame.cfa_word >= 0) rule.word = frame.cfa_word;
  return rule;
}

void expect_libdw_agrees(const capture::Code& code, const std::vector<Trace>& traces,
                         std::uint32_t preserved) {
  namespace unwind = jitquill::unwind;
  jitquill::Bytes out;
  unwind::BlobSizes sizes;
  const auto events = jitquill::Unwinding::from_events(as_writers(code.frame));
  ASSERT_EQ(unwind::put_blob(out, events, code.size, 0, sizes), jitquill::Status::kOk) << code.name;
  const jitquill::tests::CfiReader reader(out.view(), sizes, code.size);
  for (const Trace& trace : traces) {
    for (const Step& step : trace.steps) {
      SCOPED_TRACE(code.name + ", offset " + std::to_string(step.offset));
      jitquill::tests::Snapshot snapshot{
          {}, [&](std::uint64_t address) { return step.load(address).value_or(0xBAD); }};
      std::ranges::copy(step.registers, snapshot.registers.begin());
      const auto caller = reader.unwind(step.offset, snapshot);
      ASSERT_TRUE(caller.has_value());
      EXPECT_EQ(caller->cfa, trace.cfa);
      EXPECT_EQ(reader.cfa_rule(step.offset), rule_of(frames::frame_at(code.frame, step.offset)));
      EXPECT_EQ(caller->registers[kReturnAddress], trace.steps.front().load(trace.cfa - 8));
      for (std::size_t reg = 0; reg < step.registers.size(); ++reg)
        if ((preserved >> reg & 1) != 0) {
          EXPECT_EQ(caller->registers[reg], trace.steps.front().registers[reg]) << "register " << reg;
        }
    }
  }
}

// What earlier calls left there must not look like this call's.
[[gnu::noinline]] void overwrite_stack_below() {
  std::array<std::uint8_t, 32 * 1024> below;
  below.fill(0xA5);
  asm volatile("" : : "r"(below.data()) : "memory");
}

}  // namespace

std::optional<std::uint64_t> Step::load(std::uint64_t address) const {
  const std::uint64_t from = address - registers[kStackPointer];
  std::uint64_t word = 0;
  if (from > stack.size() || stack.size() - from < sizeof word) return std::nullopt;
  std::memcpy(&word, stack.data() + from, sizeof word);
  return word;
}

Trace run(const capture::Code& code, const std::vector<std::uint64_t>& arguments) {
  std::array<std::uint64_t, 8> eight{};
  std::copy(arguments.begin(), arguments.end(), eight.begin());
  Run here;
  here.start = reinterpret_cast<std::uint64_t>(code.addr);
  here.end = here.start + code.size;
  now = &here;
  struct sigaction action {};
  struct sigaction old {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &old);
  overwrite_stack_below();
  here.trace.result = stepped_call(code.addr, eight.data());
  sigaction(SIGTRAP, &old, nullptr);
  now = nullptr;
  return here.trace;
}

std::string first_mismatch(const capture::Code& code, std::span<const jitquill_frame_event> events,
                           const Trace& trace, std::uint32_t preserved) {
  constexpr std::array<std::uint8_t, 3> kAndRsp = {0x48, 0x83, 0xE4};  // and rsp, signed byte
  const Expected expected{trace, preserved, !has_kind(code.frame, JITQUILL_FRAME_FRAME_IN_MEMORY)};
  bool is_aligned = false;
  for (const Step& step : trace.steps) {
    const frames::Frame frame = frames::frame_at(events, step.offset);
    if (frame.cfa_register == frames::kStackPointer && frame.cfa_word < 0) is_aligned = false;
    const std::string found = mismatch(frame, step, expected, is_aligned);
    if (!found.empty()) return found;
    const auto at_ip = std::span(code.bytes).subspan(step.offset);
    is_aligned = is_aligned ||
                 (at_ip.size() > kAndRsp.size() && std::equal(kAndRsp.begin(), kAndRsp.end(), at_ip.begin()));
  }
  return {};
}

void expect_true_frame(const capture::Code& code, const Arguments& calls, std::uint32_t preserved) {
  ASSERT_TRUE(code.unwinding) << code.name;
  EXPECT_EQ(jitquill::unwind::check_frame(as_writers(code.frame), code.size), jitquill::Status::kOk)
      << code.name;
  std::vector<Trace> traces;
  for (const auto& arguments : calls) {
    traces.push_back(run(code, arguments));
    ASSERT_FALSE(traces.back().steps.empty()) << code.name;
    EXPECT_EQ(first_mismatch(code, code.frame, traces.back(), preserved), "") << code.name;
  }
  expect_libdw_agrees(code, traces, preserved);
  for (std::size_t row = 0; row < code.frame.size(); ++row) {
    std::size_t way = 0;
    for (const std::vector<Events>& group : spoil(code.frame, row, traces)) {
      const auto passes = [&](const Events& spoiled) { return is_true(code, spoiled, traces, preserved); };
      EXPECT_FALSE(!group.empty() && std::ranges::all_of(group, passes))
          << code.name << ": row " << row << " of " << code.frame.size() << " kind "
          << int{code.frame[row].kind} << " spoiled in way " << way;
      ++way;
    }
  }
}

}  // namespace stepper
