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

// What was announced, for what else a test asks of it.
template <class E>
capture::Code check(jitquill::JitRuntime& rt, const Shape& shape) {
  capture::clear();
  CodeHolder code;
  EXPECT_EQ(code.init(rt.environment()), asmjit::kErrorOk);
  Emitter<E> e(&code);
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
  stepper::expect_true_frame(seen, calls,
                             shape.windows ? stepper::kWindowsPreserved : stepper::kSystemVPreserved);
  rt.release(function);
  return seen;
}

}  // namespace shapes
