// Turns V8's events into code news.
//
// Context   [notify]: a thread of an isolate, or (moves) one of its garbage collector's, perhaps holding V8's
//           logging lock. Of V8 nothing is called but what looks up lines, which it has just looked up itself
//           for the function's name: so it allocates nothing and waits for nothing.
// Promises  whatever an event says, memory of the host is read without faults, and what is wrong costs a
//           counter.
// Does not  tell of bytecode, which the interpreter runs.
#pragma once

#include "agent/intake/v8/code_event.hpp"
#include "agent/intake/v8/engine.hpp"
#include "agent/intake/v8/positions.hpp"
#include "writer/model/code.hpp"
#include "writer/model/status.hpp"

namespace jitquill::intake::v8 {

// Where news goes: told.hpp.
struct Tell {
  Status (*load)(CodeLoad& load);
  Status (*move)(std::uint64_t from, std::uint64_t to);
  Status (*unload)(std::uint64_t address);
};

class Listener {
 public:
  constexpr explicit Listener(const Tell& tell) noexcept : tell_(tell) {}

  void use(const Engine& engine) noexcept { engine_ = engine; }
  const Engine& engine() const noexcept { return engine_; }

  // `event` is V8's own and const but for user_data, which V8 reads back.
  void hear(CodeEvent& event);

 private:
  void hear_added(const CodeEvent& event);
  void hear_moved(const CodeEvent& event);
  void hear_start(CodeEvent& event) noexcept;
  void look_up_lines(const CodeEvent& event, Positions::Recording& recording, Pages<Line>& rows) noexcept;
  Line row_of(const CodeEvent& event, Position position) const noexcept;

  Tell tell_;
  Engine engine_;
  Positions positions_;
};

}  // namespace jitquill::intake::v8
