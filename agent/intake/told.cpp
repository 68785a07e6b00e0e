#include "agent/intake/told.hpp"

#include <algorithm>

#include "agent/base/counters.hpp"
#include "agent/intake/frames/frames.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {

namespace {

bool is_copy(const CodeLoad& load) noexcept {
  return reinterpret_cast<std::uint64_t>(load.bytes.data()) != load.address;
}

}  // namespace

bool wants_code() noexcept {
  return agent().wants().code;
}

bool wants_inlining() noexcept {
  return agent().wants().inlining;
}

void remark(std::string_view words) {
  (void)with_agent(
      [&](Agent& a) {
        a.remark(words);
        return Status::kOk;
      },
      [](Agent&) { return Status::kQueued; });
}

Status open_outputs() {
  return with_agent([](Agent& a) { return a.begin(); }, [](Agent&) { return Status::kQueued; });
}

Status tell_load(CodeLoad& load) {
  if (!wants_code()) return Status::kOff;
  if (!is_placeable(load.address, load.bytes.size())) {
    count(Counter::functions_refused);
    return load.bytes.empty() ? Status::kEmptyCode : Status::kTooLarge;
  }
  if (is_left_to_own_dump()) {
    count(Counter::functions_left);
    return Status::kOff;
  }
  if (is_in_both_dumps()) load.since_ns = 0;
  load.is_overheard = true;
  load.may_fault = !is_copy(load);
  const auto tell = [&] {
    return with_agent([&](Agent& a) { return a.load(load); }, [&](Agent& a) { return a.queue_load(load); });
  };
  if (!frames::knows_any()) return tell();
  return while_locked([&] {
    const frames::KnownUnwinding known(load);
    return tell();
  });
}

void tell_loads(std::span<CodeLoad> loads, std::span<Status> told) {
  const bool is_plain = std::ranges::all_of(loads, [](const CodeLoad& load) {
    return is_copy(load) && !load.unwinding.has_rows() && is_placeable(load.address, load.bytes.size());
  });
  if (!is_plain || !wants_code() || is_left_to_own_dump() || frames::knows_any()) {
    for (std::size_t i = 0; i < loads.size(); ++i) told[i] = tell_load(loads[i]);
    return;
  }
  for (CodeLoad& load : loads) load.is_overheard = true;
  const auto write = [&](Agent& a) {
    a.load_all(loads, told);
    return Status::kOk;
  };
  const auto queue = [&](Agent& a) {
    for (std::size_t i = 0; i < loads.size(); ++i) told[i] = a.queue_load(loads[i]);
    return Status::kQueued;
  };
  (void)with_agent(write, queue);
}

Status tell_unload(std::uint64_t address) {
  if (!wants_code()) return Status::kOff;
  CodeUnload unload;
  unload.address = address;
  unload.is_overheard = true;
  return with_agent([&](Agent& a) { return a.unload(unload); },
                    [&](Agent& a) { return a.queue_unload(unload); });
}

Status tell_move(std::uint64_t from, std::uint64_t to) {
  if (!wants_code()) return Status::kOff;
  CodeMove move;
  move.from = from;
  move.to = to;
  move.is_overheard = true;
  return with_agent([&](Agent& a) { return a.move(move); }, [&](Agent& a) { return a.queue_move(move); });
}

}  // namespace jitquill::intake
