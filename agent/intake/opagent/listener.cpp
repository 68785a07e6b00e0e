#include "agent/intake/opagent/listener.hpp"

#include <new>
#include <utility>

#include "agent/base/counters.hpp"
#include "agent/base/safe_copy.hpp"
#include "agent/intake/opagent/line_table.hpp"
#include "agent/intake/told.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::intake::opagent {
namespace {

void broken() noexcept {
  count(Counter::opagent_calls_broken);
}

}  // namespace

Listener& listener() noexcept {
  static constinit Listener the_listener;
  return the_listener;
}

void Listener::code(const char* name, std::uint64_t address, const void* bytes, std::uint32_t size) {
  auto text = copied_text(name, kNameToRead);
  if (!text) {
    broken();
    text.emplace();
  }
  const auto at = bytes == nullptr ? address : reinterpret_cast<std::uint64_t>(bytes);
  Function function{address, at, size, std::move(*text)};
  if (address == 0 || !is_placeable(address, size) || at + size < at ||
      !can_read_ends({reinterpret_cast<const std::uint8_t*>(at), size}))
    return broken();
  tell(function, nullptr);
  remember(function);
}

void Listener::lines(const void* bytes, std::size_t rows, const void* from) {
  if (rows == 0) return;
  const auto at = reinterpret_cast<std::uint64_t>(bytes);
  Function* function = at == 0 ? nullptr : by_bytes_.find(at);
  if (function == nullptr && at != 0) function = by_address_.find(at);
  // Of code that was told without its bytes: its first row says where it is.
  std::uint64_t first = 0;
  if (at == 0 && safe_read(from, first) && first != 0) function = by_address_.find(first);
  if (function == nullptr) return broken();
  LineTable table;
  if (!table.read(from, rows, function->address, function->size)) return count(Counter::lines_refused);
  if (!table.all().empty()) tell(*function, &table);
}

void Listener::unload(std::uint64_t address) {
  Function* const function = address == 0 ? nullptr : by_address_.find(address);
  if (function == nullptr && by_address_.size() < kMost) return broken();
  (void)tell_unload(address);
  forget(function);
}

void Listener::tell(Function& function, LineTable* lines) {
  const std::span<const std::uint8_t> told(reinterpret_cast<const std::uint8_t*>(function.bytes),
                                           function.size);
  Block copy;
  CodeLoad load;
  load.address = function.address;
  load.bytes = told;
  load.name = function.name.view();
  if (lines != nullptr) load.lines = lines->all();
  if (function.bytes != function.address) {
    copy = Block(function.size);
    if (!copy) return count(Counter::news_out_of_memory);
    if (!safe_copy(told, copy.data(), kTrap)) count(Counter::code_unreadable);
    load.bytes = copy.view();
  }
  (void)tell_load(load);
}

void Listener::remember(Function& function) noexcept {
  forget(by_address_.find(function.address));
  if (by_address_.size() >= kMost) return;
  void* const room = memory().allocate(sizeof(Function));
  if (room == nullptr) return;
  auto* const kept = new (room) Function(std::move(function));
  if (by_address_.put(kept->address, kept) && by_bytes_.put(kept->bytes, kept)) return;
  forget(kept);
}

// Where its bytes were another's may be by now.
void Listener::forget(Function* function) noexcept {
  if (function == nullptr) return;
  if (by_address_.find(function->address) == function) by_address_.erase(function->address);
  if (by_bytes_.find(function->bytes) == function) by_bytes_.erase(function->bytes);
  function->~Function();
  memory().free(function);
}

}  // namespace jitquill::intake::opagent
