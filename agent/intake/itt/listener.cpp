#include "agent/intake/itt/listener.hpp"

#include "agent/base/counters.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::intake::itt {
namespace {

constexpr std::uint32_t kData = 2;  // what an update says that it put there

// `text` as it lies in the intakes' memory.
CodeLoad load_of(const Region& region, Text& name, Text& file) noexcept {
  CodeLoad load;
  load.address = region.address;
  load.bytes = {reinterpret_cast<const std::uint8_t*>(region.address), region.size};
  load.name = name.view();
  load.file = file.c_str();
  return load;
}

void tell_what_is_left() {
  listener().tell_all_trees();
}

void broken() noexcept {
  count(Counter::itt_reports_broken);
}

}  // namespace

Listener& listener() noexcept {
  static constinit Listener the_listener;
  return the_listener;
}

// The name and file of a method's first report hold. A report without code only names it.
void Listener::load(const Raw& raw) {
  Report report;
  if (!report.read(raw)) return broken();
  Method* method = report.id == 0 ? nullptr : methods_.find(report.id);
  if (method == nullptr) method = methods_.add(report);
  if (!report.has_code()) return;
  const Region region{report.address, report.size};
  CodeLoad load = method == nullptr ? load_of(region, report.name, report.file)
                                    : load_of(region, method->name, method->file);
  load.lines = report.lines.all();
  (void)tell_load(load);
  if (method == nullptr || !methods_.add_region(*method, region)) return;
  if (wants_inlining()) open_tree(report);
}

void Listener::load_inlined(const Raw& raw) {
  if (!wants_inlining()) return;
  Report report;
  Open* const open = open_of(current_tid());
  if (open == nullptr || !report.read(raw) || !open->tree.add(report)) broken();
}

void Listener::unload(const Raw& raw) {
  Method* const method = methods_.find(raw.u32(0));
  if (method == nullptr) return broken();
  methods_.remove(*method, [](std::uint64_t address) { (void)tell_unload(address); });
}

void Listener::update(const Raw& raw) {
  Report report;
  if (!report.read(raw) || !report.has_code()) return broken();
  Method* const method = methods_.find(report.id);
  if (method == nullptr) return broken();
  const Region region{report.address, report.size};
  CodeLoad load = load_of(region, method->name, method->file);
  load.lines = report.lines.all();
  (void)tell_load(load);
  (void)methods_.add_region(*method, region);
}

// | address u64 | size u32 | what is there now u32 | format, a text |
void Listener::update_place(const Raw& raw) {
  const Region changed{raw.u64(0), raw.u32(8)};
  if (raw.u32(12) == kData) return;
  Method* const method = methods_.find_by_address(changed.address);
  if (method == nullptr) return broken();
  for (const Region& region : method->regions.all()) {
    if (changed.address - region.address >= region.size) continue;
    CodeLoad load = load_of(region, method->name, method->file);
    (void)tell_load(load);
  }
}

void Listener::shut_down(const Raw&) {
  tell_all_trees();
}

void Listener::tell_all_trees() {
  for (Open& open : open_) {
    if (open.tid != 0) tell_tree(open);
  }
}

// The method again, as it is, with what was inlined into it.
void Listener::tell_tree(Open& open) {
  Method* const method = open.tree.has_any() ? methods_.find(open.id) : nullptr;
  if (method != nullptr) {
    CodeLoad load = load_of({open.tree.address(), open.tree.size()}, method->name, method->file);
    load.lines = open.tree.lines();
    load.inlining = open.tree.inlining(method->name.c_str(), method->file.c_str());
    if (!load.inlining.rows.empty()) (void)tell_load(load);
  }
  open.tree.reset();
  open.tid = 0;
}

// A thread reports a method and its inlined ones in a row.
void Listener::open_tree(Report& report) {
  put_off(tell_what_is_left);
  const std::uint32_t tid = current_tid();
  Open* open = open_of(tid);
  if (open == nullptr) open = open_of(0);
  if (open == nullptr) open = &open_[next_open_++ % kMostOpen];
  if (open->tid != 0) tell_tree(*open);
  open->tid = tid;
  open->id = report.id;
  open->tree.begin(report);
}

Listener::Open* Listener::open_of(std::uint32_t tid) noexcept {
  for (Open& open : open_) {
    if (open.tid == tid) return &open;
  }
  return nullptr;
}

}  // namespace jitquill::intake::itt
