// What each event of the ITT JIT API does (events.def).
//
// Context   [notify], under the intakes' lock.
// Promises  a report that makes no sense is counted, and changes nothing.
#pragma once

#include "agent/intake/itt/inline_tree.hpp"
#include "agent/intake/itt/methods.hpp"
#include "agent/intake/itt/report.hpp"

namespace jitquill::intake::itt {

class Listener {
 public:
  void load(const Raw& raw);
  void load_inlined(const Raw& raw);
  void unload(const Raw& raw);
  void update(const Raw& raw);        // of a method: new content, at the same place or another
  void update_place(const Raw& raw);  // of whatever method is there
  void shut_down(const Raw& raw);     // the emitter's last word

  void tell_all_trees();

 private:
  // A method whose inlined ones may still come, and the thread that reports them.
  struct Open {
    std::uint32_t tid = 0;  // 0 = free
    std::uint32_t id = 0;
    InlineTree tree;
  };
  static constexpr std::size_t kMostOpen = 16;

  void tell_tree(Open& open);
  void open_tree(Report& report);
  Open* open_of(std::uint32_t tid) noexcept;

  Methods methods_;
  Open open_[kMostOpen];
  std::size_t next_open_ = 0;  // given up when all are taken
};

Listener& listener() noexcept;

}  // namespace jitquill::intake::itt
