#include "agent/intake/told.hpp"

#include "agent/base/counters.hpp"
#include "agent/intake/frames/frames.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/life/agent.hpp"

namespace jitquill::intake {

bool wants_code() noexcept {
  return agent().wants_code();
}

bool wants_inlining() noexcept {
  return agent().wants_inlining();
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
  load.is_overheard = true;
  load.may_fault = reinterpret_cast<std::uint64_t>(load.bytes.data()) == load.address;
  const auto tell = [&] {
    return with_agent([&](Agent& a) { return a.load(load); }, [&](Agent& a) { return a.queue_load(load); });
  };
  if (!frames::knows_any()) return tell();
  return while_locked([&] {
    const frames::KnownUnwinding known(load);
    return tell();
  });
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
