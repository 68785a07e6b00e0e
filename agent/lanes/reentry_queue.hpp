// News that a thread announced while it was announcing: from a fault handler or an atfork handler in the
// middle of our own work. The owner of the leaf lock writes it before it lets go.
//
// Each entry is a mapping of its own, since the thread may stand inside the arena.
//
// Context   push(): the owner of the leaf lock, re-entered. take(): the owner, not re-entered.
// Promises  first in, first out. No entry is lost but for want of memory, which push() tells.
#pragma once

#include <atomic>

#include "writer/model/code.hpp"

namespace jitquill {

class ReentryQueue {
 public:
  struct Entry {
    Entry* next;
    std::size_t mapping_size;
    enum class Kind { kLoad, kUnload, kMove } kind;
    CodeLoad load;  // its spans point behind this struct
    CodeUnload unload;
    CodeMove move;
  };

  bool push(const CodeLoad& load) noexcept;
  bool push(const CodeUnload& unload) noexcept;
  bool push(const CodeMove& move) noexcept;

  // All entries, oldest first, linked by `next`; the caller gives each back.
  Entry* take() noexcept;
  static void give_back(Entry* entry) noexcept;

  // In a child: the parent writes them.
  void forget() noexcept { newest_.store(nullptr, std::memory_order_relaxed); }

 private:
  void link(Entry* entry) noexcept;

  std::atomic<Entry*> newest_{nullptr};
};

}  // namespace jitquill
