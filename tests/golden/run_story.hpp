// A thread's events, told in the order in which they happened.
//
// Context   tests of sinks of run news.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "writer/bytes/bytes.hpp"
#include "writer/model/run.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::tests {

class RunStory {
 public:
  RunStory& enter(std::uint64_t when_ns, FunctionNumber function, std::uint8_t stack = 0) {
    events.push_back(event(RunEventKind::kEnter, when_ns, function, stack));
    open_.push_back({when_ns, 0, function, stack});
    return *this;
  }
  RunStory& leave(std::uint64_t when_ns, FrameEnd end = FrameEnd::kReturned) {
    const Open frame = open_.back();
    open_.pop_back();
    RunEvent leave = event(RunEventKind::kLeave, when_ns, frame.function, frame.stack);
    leave.since_ns = frame.since_ns;
    leave.amount = frame.inside_ns;
    leave.end = end;
    events.push_back(leave);
    if (!open_.empty()) open_.back().inside_ns += when_ns - frame.since_ns;
    return *this;
  }
  RunStory& other(RunEventKind kind, std::uint64_t when_ns, std::uint64_t since_ns = 0,
                  std::uint64_t amount = 0) {
    RunEvent other = event(kind, when_ns, 0, 0);
    other.since_ns = since_ns;
    other.amount = amount;
    events.push_back(other);
    return *this;
  }
  RunStory& post(std::uint64_t when_ns, std::uint32_t number, std::span<const std::uint8_t> payload) {
    posts.push_back({number, payload});
    return other(RunEventKind::kPost, when_ns, 0, posts.size() - 1);
  }
  // Of the entry in front of it.
  RunStory& stack(const CallStack& taken) {
    stacks.push_back(taken);
    RunEvent stack = events.back();
    stack.kind = RunEventKind::kStack;
    stack.amount = stacks.size() - 1;
    events.push_back(stack);
    return *this;
  }
  Batch batch(const RunThread& thread) const { return {thread, events, posts, stacks}; }
  // The next batch of the thread begins: what is open stays so.
  void turn_page() {
    events.clear();
    posts.clear();
    stacks.clear();
  }

  std::vector<RunEvent> events;
  std::vector<Post> posts;
  std::vector<CallStack> stacks;

 private:
  struct Open {
    std::uint64_t since_ns;
    std::uint64_t inside_ns;
    FunctionNumber function;
    std::uint8_t stack;
  };
  RunEvent event(RunEventKind kind, std::uint64_t when_ns, FunctionNumber function,
                 std::uint8_t stack) const {
    RunEvent made{};
    made.when_ns = when_ns;
    made.function = function;
    made.depth = static_cast<std::uint32_t>(open_.size()) & 0xFFFFFF;
    made.stack = stack;
    made.kind = kind;
    return made;
  }

  std::vector<Open> open_;
};

inline std::string text_of(const Bytes& out) {
  return {out.view().begin(), out.view().end()};
}

// What a page of docs/ must have in it: the lines, indented as its examples are.
inline bool page_has(const char* page, const std::string& lines) {
  std::ifstream file(page, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::string indented = "    ";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    indented += lines[i];
    if (lines[i] == '\n' && i + 1 < lines.size()) indented += "    ";
  }
  return all.find(indented) != all.npos;
}

}  // namespace jitquill::tests
