#include "tests/unit/adapter/stepper.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>

#include "tests/unit/adapter/frame_reader.hpp"
#include "writer/unwind/frame_walk.hpp"

extern "C" std::uint64_t stepped_call(const void* function, const std::uint64_t* arguments);

namespace stepper {
namespace {

// Where the kernel keeps each DWARF register.
constexpr std::array<int, 16> kRegister = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15};
constexpr int kFramePointer = 6;
constexpr std::array<int, 6> kPreserved = {3, 6, 12, 13, 14, 15};

struct Run {
  std::uint64_t start = 0, end = 0;
  std::span<const jitquill_frame_event> events;
  bool entered = false;
  std::uint64_t true_cfa = 0;
  std::array<std::uint64_t, 16> at_entry{};
  Outcome outcome;
};
Run* now = nullptr;

std::uint64_t value(const ucontext_t& context, int dwarf) {
  return static_cast<std::uint64_t>(context.uc_mcontext.gregs[kRegister[static_cast<std::size_t>(dwarf)]]);
}

void mismatch(std::uint64_t ip, const char* what) {
  if (now->outcome.mismatches++ != 0) return;
  now->outcome.first_bad = static_cast<std::uint32_t>(ip - now->start);
  now->outcome.what = what;
}

void check(const ucontext_t& context, std::uint64_t ip) {
  const frames::Frame frame = frames::frame_at(now->events, static_cast<std::uint32_t>(ip - now->start));
  if (!frame.valid) return mismatch(ip, "events make no sense");
  const std::uint64_t cfa = value(context, frame.cfa_register) + static_cast<std::uint64_t>(frame.cfa_offset);
  if (cfa != now->true_cfa) return mismatch(ip, "CFA");
  if (cfa - value(context, frames::kStackPointer) != static_cast<std::uint64_t>(frame.depth))
    return mismatch(ip, "depth of the stack pointer");
  // rbp pushed first and set to the stack pointer: from there to its pop the frame is found through it, since
  // the stack pointer may move unseen.
  const bool has_frame_pointer = value(context, kFramePointer) == now->true_cfa - 16;
  if (has_frame_pointer != (frame.cfa_register == kFramePointer))
    return mismatch(ip, "frame pointer not used");
  for (const int reg : kPreserved) {
    const auto below = static_cast<std::uint64_t>(frame.below[static_cast<std::size_t>(reg)]);
    if (below > static_cast<std::uint64_t>(frame.depth))
      return mismatch(ip, "a save below the stack pointer");
    const std::uint64_t found =
        below == 0 ? value(context, reg) : *reinterpret_cast<const std::uint64_t*>(cfa - below);
    if (found != now->at_entry[static_cast<std::size_t>(reg)]) return mismatch(ip, "a saved register");
  }
}

void on_trap(int, siginfo_t*, void* raw) {
  const auto& context = *static_cast<const ucontext_t*>(raw);
  const auto ip = static_cast<std::uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  if (ip < now->start || ip >= now->end) return;
  if (!now->entered) {
    now->entered = true;
    now->true_cfa = value(context, frames::kStackPointer) + 8;
    for (int reg = 0; reg < 16; ++reg) now->at_entry[static_cast<std::size_t>(reg)] = value(context, reg);
  }
  ++now->outcome.steps;
  check(context, ip);
}

using Events = std::vector<jitquill_frame_event>;

bool is_true(const capture::Code& code, const Events& events, const Arguments& calls) {
  for (const auto& arguments : calls)
    if (run(code, events, arguments).mismatches != 0) return false;
  return true;
}

bool has_register(const jitquill_frame_event& event) {
  return event.kind == JITQUILL_FRAME_PUSH || event.kind == JITQUILL_FRAME_POP ||
         event.kind == JITQUILL_FRAME_SAVE || event.kind == JITQUILL_FRAME_RESTORE ||
         event.kind == JITQUILL_FRAME_SET_FRAME;
}

bool writer_accepts(const capture::Code& code) {
  const auto* events = reinterpret_cast<const jitquill::FrameEvent*>(code.frame.data());
  return jitquill::unwind::check_frame({events, code.frame.size()}, code.size) == jitquill::Status::kOk;
}

// May the event come an instruction later and still be true? A copy in memory stays true beside the register.
bool may_be_late(const jitquill_frame_event& event) {
  return event.kind == JITQUILL_FRAME_REMEMBER || event.kind == JITQUILL_FRAME_SAVE ||
         event.kind == JITQUILL_FRAME_RESTORE;
}

// The event left out, later, with another value, with another register.
std::vector<Events> spoil(const Events& events, std::size_t row) {
  std::vector<Events> all;
  all.push_back(events);
  all.back().erase(all.back().begin() + static_cast<std::ptrdiff_t>(row));
  if (!may_be_late(events[row])) {
    all.push_back(events);
    for (std::size_t i = row; i < events.size() && events[i].offset == events[row].offset; ++i)
      ++all.back()[i].offset;
  }
  if (events[row].value != 0) {
    all.push_back(events);
    all.back()[row].value += 8;
  }
  if (has_register(events[row])) {
    all.push_back(events);
    all.back()[row].reg = events[row].reg == 3 ? 12 : 3;
  }
  return all;
}

}  // namespace

Outcome run(const capture::Code& code, std::span<const jitquill_frame_event> events,
            const std::vector<std::uint64_t>& arguments) {
  std::array<std::uint64_t, 8> eight{};
  std::copy(arguments.begin(), arguments.end(), eight.begin());
  Run here;
  here.start = reinterpret_cast<std::uint64_t>(code.addr);
  here.end = here.start + code.size;
  here.events = events;
  now = &here;
  struct sigaction action {};
  struct sigaction old {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &old);
  here.outcome.result = stepped_call(code.addr, eight.data());
  sigaction(SIGTRAP, &old, nullptr);
  now = nullptr;
  return here.outcome;
}

void expect_true_frame(const capture::Code& code, const Arguments& calls) {
  ASSERT_TRUE(code.unwinding) << code.name;
  EXPECT_TRUE(writer_accepts(code)) << code.name;
  for (const auto& arguments : calls) {
    const Outcome outcome = run(code, code.frame, arguments);
    EXPECT_GT(outcome.steps, 0u) << code.name;
    EXPECT_EQ(outcome.mismatches, 0u) << code.name << ": " << outcome.what << " at " << outcome.first_bad;
  }
  for (std::size_t row = 0; row < code.frame.size(); ++row) {
    std::size_t way = 0;
    for (const Events& spoiled : spoil(code.frame, row)) {
      EXPECT_FALSE(is_true(code, spoiled, calls))
          << code.name << ": row " << row << " of " << code.frame.size() << " kind "
          << int{code.frame[row].kind} << " spoiled in way " << way;
      ++way;
    }
  }
}

}  // namespace stepper
