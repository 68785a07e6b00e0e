// Makes a function of a given shape, adds it, and holds its frame against the running processor.
//
// Context   tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "tests/unit/adapter/shapes.hpp"
#include "tests/unit/adapter/stepper.hpp"

namespace shapes {

// The emitter that a runtime would use: a Compiler needs no other.
template <class E>
using Emitter = std::conditional_t<std::is_same_v<E, x86::Compiler>, x86::Compiler, jitquill::Announced<E>>;

inline std::string name_of(const Shape& shape) {
  return std::string(shape.name) + "_pushes_" + std::to_string(shape.pushes) +
         (shape.frame_pointer ? "_fp" : "") + "_locals_" + std::to_string(shape.locals) + "_epilogs_" +
         std::to_string(shape.epilogs);
}

// One call for each exit, and one more for the last; every argument register and stack slot has the number.
inline stepper::Arguments calls_of(const Shape& shape) {
  stepper::Arguments calls;
  for (int exit = 0; exit <= shape.epilogs; ++exit)
    calls.push_back(std::vector<std::uint64_t>(8, static_cast<std::uint64_t>(exit)));
  return calls;
}

// How a function's sites are while it is stepped.
enum class SiteState { kNone, kOff, kOn };
inline constexpr SiteState kSiteStates[] = {SiteState::kNone, SiteState::kOff, SiteState::kOn};

// The policy of what is emitted next.
template <class E>
void set_sites(E& emitter, SiteState state) {
  const auto policy =
      state == SiteState::kNone ? jitquill::SitePolicy::kNever : jitquill::SitePolicy::kAlways;
  if constexpr (std::is_same_v<E, x86::Compiler>)
    EXPECT_EQ(jitquill::add_site_pass(emitter, policy), asmjit::kErrorOk);
  else
    emitter.set_site_policy(policy);
}

// Of each kind, how many announced sites there are.
inline capture::SiteCalls sites_of(const capture::Code& code) {
  capture::SiteCalls sites;
  for (const jitquill_site& site : code.sites)
    ++(site.kind == JITQUILL_SITE_ENTER   ? sites.enter
       : site.kind == JITQUILL_SITE_LEAVE ? sites.leave
                                          : sites.tail);
  return sites;
}

// Steps it with its sites in this state, which must call their hooks once for each call, or not at all.
inline void expect_true_frame(const capture::Code& seen, const stepper::Arguments& calls, SiteState state,
                              std::uint32_t preserved = stepper::kSystemVPreserved) {
  EXPECT_EQ(sites_of(seen).enter, state == SiteState::kNone ? 0u : 1u);
  capture::switch_sites(seen, state == SiteState::kOn);
  const capture::SiteCalls before = capture::site_calls();
  for (const auto& call : calls) (void)stepper::run(seen, call);
  const capture::SiteCalls after = capture::site_calls();
  const std::uint64_t expected = state == SiteState::kOn ? calls.size() : 0;
  EXPECT_EQ(after.enter - before.enter, expected);
  EXPECT_EQ(after.leave - before.leave + after.tail - before.tail, expected);
  stepper::expect_true_frame(seen, calls, preserved);
}

// What was announced, for what else a test asks of it.
template <class E>
capture::Code check(jitquill::JitRuntime& rt, const Shape& shape, SiteState state) {
  capture::clear();
  CodeHolder code;
  EXPECT_EQ(code.init(rt.environment()), asmjit::kErrorOk);
  Emitter<E> e(&code);
  set_sites(e, state);
  emit(e, shape);
  EXPECT_EQ(e.finalize(), asmjit::kErrorOk);
  const std::string name = name_of(shape);
  void* function = nullptr;
  EXPECT_EQ(rt.add(&function, &code, jitquill::Announcement{.name = name.c_str()}), asmjit::kErrorOk);
  const capture::Code seen = capture::load_of(name);
  EXPECT_TRUE(seen.unwinding) << jitquill::refusal_text(rt.last_refusal());
  const stepper::Arguments calls = calls_of(shape);
  for (std::size_t k = 0; k < calls.size(); ++k)
    EXPECT_EQ(stepper::run(seen, calls[k]).result,
              k + 1 < static_cast<std::size_t>(shape.epilogs) ? k : k + 1);
  expect_true_frame(seen, calls, state,
                    shape.windows ? stepper::kWindowsPreserved : stepper::kSystemVPreserved);
  rt.release(function);
  return seen;
}

template <class E>
capture::Code check(jitquill::JitRuntime& rt, const Shape& shape) {
  for (const SiteState state : {SiteState::kOff, SiteState::kOn}) (void)check<E>(rt, shape, state);
  return check<E>(rt, shape, SiteState::kNone);
}

}  // namespace shapes
