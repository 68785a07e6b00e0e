// The agent's part that says which functions are traced: by patterns, at load and at any time later.
#include "agent/base/counters.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "agent/hooks/sites.hpp"
#include "agent/life/agent.hpp"

namespace jitquill {
namespace {

Counter counter_of(sites::Trouble trouble) noexcept {
  switch (trouble) {
    case sites::Trouble::kNoPlace:
      return Counter::sites_without_place;
    case sites::Trouble::kLargeId:
      return Counter::sites_without_id;
    case sites::Trouble::kNoMemory:
      return Counter::news_out_of_memory;
    default:
      return Counter::sites_refused;
  }
}

}  // namespace

// Before the outputs are open it is what they will be.
bool Agent::may_trace() const noexcept {
  const bool is_open =
      phase_ == Phase::kAwake ? run_news_.is_on() : phase_ == Phase::kDormant && may_record();
  return is_open && options_.hooks.any() && RunNews::is_wanted(options_.formats) && sites::hook(1) != nullptr;
}

bool Agent::is_named_by(const NamePatterns& patterns, std::string_view name) noexcept {
  return patterns.match(name, options_.demangle ? demangler_.text_of(name) : name);
}

bool Agent::is_traced(std::string_view name) noexcept {
  return may_trace() && is_named_by(options_.hooks, name);
}

void Agent::note_lack_of_stacks(std::string_view name) noexcept {
  count(Counter::sites_without_stacks);
  if (is_lack_of_stacks_said_) return;
  is_lack_of_stacks_said_ = true;
  Message line;
  line.text("no call stacks of '")
      .text(first(name, 200))
      .text(
          "' and others: the runtime asked for jitquill_site_hook() before jitquill_start() told of stack=; "
          "say stack= in JITQUILL_OPTIONS");
  (void)log_.say(line.view());
}

Status Agent::add_trace_component(std::string_view name, const TraceComponent::Points& points,
                                  std::uint32_t& number, const char*& why) noexcept {
  const TraceComponent::Made made = TraceComponent::make(name, points);
  why = made.fault;
  if (made.component == nullptr && made.fault == nullptr) return out_of_memory();
  bool is_new = false;
  Status status = made.component == nullptr ? Status::kBadArgument
                                            : trace_components().add(made.component, number, is_new);
  if (status == Status::kBadArgument) {
    if (why == nullptr) why = "another component of this name has other trace points";
    Message line;
    line.text("trace component '").text(first(name, TraceComponent::kMostName)).text("' is refused");
    if (made.component == nullptr && made.point < points.count)
      line.text(", trace point ").number(made.point);
    remark(line.text(": ").text(why).view());
  }
  if (!is_new || !run_news_.is_on() || !trace_components().is_on()) return status;
  status = TraceComponents::put_file(*trace_components().at(number), place_.command(), place_);
  if (!is_done(status)) count(Counter::write_errors);
  return status;
}

// That there is no place to write is no fault of the runtime's: it is counted, and nothing said.
sites::SiteList* Agent::take_sites(const CodeLoad& load, Status& status) noexcept {
  if (load.sites.empty()) return nullptr;
  sites::Trouble trouble;
  sites::SiteList* const list = sites::SiteList::make(load, trouble, is_named_by(options_.stack, load.name));
  if (list != nullptr) {
    count(Counter::sites_taken);
    if (list->lacks_stacks()) note_lack_of_stacks(load.name);
    return list;
  }
  count(counter_of(trouble));
  if (trouble == sites::Trouble::kNoPlace) return nullptr;
  if (status == Status::kOk) status = Status::kSitesLeftOut;
  const std::uint32_t bit = 1u << static_cast<unsigned>(trouble);
  if ((site_troubles_said_ & bit) != 0) return nullptr;
  site_troubles_said_ |= bit;
  Message line;
  line.text("sites stay off in '").text(first(load.name, 200)).text("': ").text(sites::text(trouble));
  (void)log_.say(line.view());
  return nullptr;
}

void Agent::switch_sites() noexcept {
  code_map_.for_each_sites([this](sites::SiteList& list) {
    const bool on = is_traced(list.name());
    if (on == list.is_on() || list.is_gone()) return;
    count(list.turn(on) ? Counter::sites_switched : Counter::sites_gone);
  });
}

Status Agent::set_hooks(std::string_view patterns) noexcept {
  if (options_.hooks.set(patterns) != nullptr) return Status::kBadArgument;
  run_news_.set_patterns(options_.hooks.view());
  native_hooks_.try_again();
  begin_for_native();
  tell_wants();
  switch_sites();
  if (phase_ == Phase::kStopped) return Status::kStopped;
  return phase_ == Phase::kOff ? Status::kOff : Status::kOk;
}

Status Agent::add_native_names(std::atomic<const void*>* targets, std::uint32_t count,
                               bool has_callers) noexcept {
  native_hooks_.add(targets, count, has_callers);
  if (has_callers) run_news_.expect_native_functions();
  begin_for_native();
  tell_wants();
  return Status::kOk;
}

Status Agent::wake_for_native() noexcept {
  native_hooks_.found_callers();
  run_news_.expect_native_functions();
  begin_for_native();
  tell_wants();
  return Status::kOk;
}

// What native functions call is no news that could wake the agent.
void Agent::begin_for_native() noexcept {
  if (native_hooks_.have_callers() && may_trace()) (void)begin();
}

Status Agent::add_function(const NamedFunction& function, std::uint64_t& id) noexcept {
  id = 0;
  if (may_trace()) (void)begin();
  if (!may_trace()) return phase_ == Phase::kStopped ? Status::kStopped : Status::kOff;
  if (!is_named_by(options_.hooks, function.name)) return Status::kOk;
  id = ++last_id_;
  RunNews::tell_function(sinks_, id, function);
  count(Counter::functions_without_code);
  return Status::kOk;
}

}  // namespace jitquill
