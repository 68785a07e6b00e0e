#include "agent/intake/v8/listener.hpp"

#include <algorithm>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/v8/script_file.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::intake::v8 {
namespace {

// Each position looked up leaves two handles; V8 gives room for about 1,000 at once.
constexpr std::size_t kPositionsAtOnce = 400;

bool is_machine_code(const CodeEvent& event) noexcept {
  return event.code_type == CodeEvent::kJit || event.code_type == CodeEvent::kWasm;
}

bool has_place(const CodeEvent& event) noexcept {
  return event.start != 0 && event.size != 0 && event.size <= kMaxCodeSize &&
         event.start + event.size > event.start;
}

class CopiedName {
 public:
  explicit CopiedName(const CodeEvent::Name& name) noexcept
      : size_(name.text == nullptr ? 0 : std::min(name.length, kNameToRead)) {
    if (!safe_copy({reinterpret_cast<const std::uint8_t*>(name.text), size_},
                   reinterpret_cast<std::uint8_t*>(text_), '?'))
      is_whole_ = false;
  }
  std::string_view view() const noexcept { return {text_, size_}; }
  bool is_whole() const noexcept { return is_whole_; }

 private:
  std::size_t size_;
  bool is_whole_ = true;
  char text_[kNameToRead];
};

// Where V8 puts what lookups leave. Its size is three words in all versions seen.
class HandleScope {
 public:
  HandleScope(const Engine& engine, void* isolate) noexcept : engine_(engine) {
    engine_.open_handles(scope_, isolate);
  }
  ~HandleScope() { engine_.close_handles(scope_); }
  HandleScope(const HandleScope&) = delete;
  HandleScope& operator=(const HandleScope&) = delete;

 private:
  const Engine& engine_;
  void* scope_[8] = {};
};

}  // namespace

void Listener::hear(CodeEvent& event) {
  switch (event.type) {
    case CodeEvent::kAdded:
      return hear_added(event);
    case CodeEvent::kMoved:
      return hear_moved(event);
    case CodeEvent::kRemoved:
      if (is_machine_code(event)) (void)tell_.unload(event.start);
      return;
    case CodeEvent::kStartPositions:
      return hear_start(event);
    case CodeEvent::kPosition:
      return positions_.add(event.user_data, current_tid(), event.position.offset, event.position.position);
    case CodeEvent::kEndPositions:
      return positions_.end(event.user_data, current_tid(), event.start);
    default:
      return;  // what a later version may add
  }
}

// Of wasm positions are bytes in its module, not lines.
void Listener::hear_start(CodeEvent& event) noexcept {
  const bool is_wanted = event.code_type == CodeEvent::kJit && engine_.knows_lines();
  event.user_data = is_wanted ? positions_.begin(current_tid()) : nullptr;
  if (is_wanted && event.user_data == nullptr) count(Counter::v8_lines_lost);
}

void Listener::hear_added(const CodeEvent& event) {
  if (!is_machine_code(event)) return;
  const CopiedName name(event.name);
  if (!has_place(event) || !name.is_whole()) return count(Counter::v8_refused);
  const ScriptFile file(name.view());
  Pages<Line> rows;
  Positions::Recording* const recording = positions_.take(current_tid(), event.start);
  if (recording != nullptr) look_up_lines(event, *recording, rows);
  Positions::give_back(recording);

  CodeLoad load;
  load.address = event.start;
  load.bytes = {reinterpret_cast<const std::uint8_t*>(event.start), event.size};
  load.name = name.view();
  load.may_move = event.code_type == CodeEvent::kJit;
  load.unwinding.kind = Unwinding::Kind::kFramePointers;
  if (file.path() != nullptr) {
    load.file = file.path();
    load.lines = rows.all();
  }
  if (is_done(tell_.load(load))) count(Counter::v8_functions);
  rows.release();
}

void Listener::hear_moved(const CodeEvent& event) {
  if (!is_machine_code(event)) return;
  if (!has_place(event) || event.new_start == 0) return count(Counter::v8_refused);
  (void)tell_.move(event.start, event.new_start);
}

// Line 0: the position is outside of the script.
Line Listener::row_of(const CodeEvent& event, Position position) const noexcept {
  const auto at = static_cast<int>(position.position);
  Line row{.offset = position.offset, .line = 0, .column = 0, .file = nullptr};
  const int line = engine_.line_of(event.script, at);  // from 0, or -1
  if (line < 0) return row;
  row.line = static_cast<std::uint32_t>(line) + 1;
  const int column = engine_.column_of == nullptr ? -1 : engine_.column_of(event.script, at);
  if (column >= 0) row.column = static_cast<std::uint32_t>(column) + 1;
  return row;
}

void Listener::look_up_lines(const CodeEvent& event, Positions::Recording& recording,
                             Pages<Line>& rows) noexcept {
  bool is_whole = !recording.is_cut;
  auto left = recording.positions.all();
  // Another thread than the isolate's own may not ask. Code without a script has none to ask.
  void* const isolate = engine_.current_isolate();
  if (event.script == nullptr || isolate == nullptr || isolate != event.isolate) left = {};
  while (!left.empty()) {
    const HandleScope scope(engine_, isolate);
    const auto some = left.first(std::min(left.size(), kPositionsAtOnce));
    left = left.subspan(some.size());
    for (const Position position : some) {
      const bool is_in_order = rows.all().empty() || position.offset > rows.all().back().offset;
      if (!is_in_order || position.offset >= event.size) continue;
      const Line row = row_of(event, position);
      if (row.line != 0 && !rows.push(row, Positions::kMostPositions)) is_whole = false;
    }
  }
  if (!is_whole) count(Counter::v8_lines_lost);
}

}  // namespace jitquill::intake::v8
