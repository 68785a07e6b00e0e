#define JITQUILL_BUILDING
#include "tests/unit/adapter/capture.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

// Assembler: they keep all registers but r10, r11 and flags.
extern "C" {
void captured_site_enter();
void captured_site_leave();
void captured_site_tail();
extern std::uint64_t captured_site_calls[3];
}

namespace capture {
namespace {

std::mutex lock;
std::vector<Code> loaded;
std::vector<const void*> unloaded;
std::vector<Move> moved_code;
std::atomic<bool> is_wanted{true};
std::atomic<bool> are_sites_wanted{false};
std::atomic<OnUnload> unload_callback{nullptr};

std::string text(const char* from) {
  return from == nullptr ? std::string() : std::string(from);
}

jitquill_status load(const jitquill_code* code, std::uint64_t* id) {
  Code seen;
  seen.name = text(code->name);
  seen.file = text(code->file);
  seen.flags = code->flags;
  seen.addr = static_cast<const std::uint8_t*>(code->addr);
  seen.size = code->size;
  seen.room = code->room;
  const auto* bytes = static_cast<const std::uint8_t*>(code->bytes == nullptr ? code->addr : code->bytes);
  seen.bytes.assign(bytes, bytes + code->size);
  seen.sites.assign(code->sites, code->sites + code->site_count);
  seen.writable = static_cast<std::uint8_t*>(code->writable);
  seen.inline_position_count = code->inline_position_count;
  seen.inline_rows.assign(code->inline_rows, code->inline_rows + code->inline_row_count);
  seen.unwinding = code->unwinding == JITQUILL_UNWINDING_FRAME_EVENTS;
  seen.lines.assign(code->lines, code->lines + code->line_count);
  seen.frame.assign(code->frame, code->frame + code->frame_count);
  const std::lock_guard<std::mutex> hold(lock);
  loaded.push_back(seen);
  if (id != nullptr) *id = loaded.size();
  return JITQUILL_OK;
}

jitquill_status unload(const void* addr) {
  if (const OnUnload callback = unload_callback) callback(addr);
  const std::lock_guard<std::mutex> hold(lock);
  unloaded.push_back(addr);
  return JITQUILL_OK;
}

std::size_t unwinding_size(const jitquill_code* code) {
  return code->unwinding == JITQUILL_UNWINDING_FRAME_EVENTS ? JITQUILL_CAPTURE_ROOM : 0;
}

const char* status_text(jitquill_status) {
  return "a test";
}
jitquill_status start(const jitquill_start_options*) {
  return JITQUILL_OK;
}
jitquill_status stop() {
  return JITQUILL_OK;
}
int wants_code() {
  return is_wanted ? 1 : 0;
}
const char* output_folder() {
  return nullptr;
}
jitquill_status statistic_at(std::size_t, jitquill_statistic*) {
  return JITQUILL_NOT_FOUND;
}
jitquill_status moved(const void*, const void*, std::size_t) {
  return JITQUILL_OK;
}
jitquill_status moved_to(const void* from, const void* to, std::size_t room, void* writable) {
  const std::lock_guard<std::mutex> hold(lock);
  moved_code.push_back({static_cast<const std::uint8_t*>(from), static_cast<const std::uint8_t*>(to), room,
                        static_cast<std::uint8_t*>(writable)});
  return JITQUILL_OK;
}
int wants_sites() {
  return are_sites_wanted ? 1 : 0;
}
const void* site_hook(jitquill_site_kind kind) {
  switch (kind) {
    case JITQUILL_SITE_ENTER:
      return reinterpret_cast<const void*>(&captured_site_enter);
    case JITQUILL_SITE_LEAVE:
      return reinterpret_cast<const void*>(&captured_site_leave);
    case JITQUILL_SITE_TAIL:
      return reinterpret_cast<const void*>(&captured_site_tail);
  }
  return nullptr;
}
jitquill_status set_hooks(const char*) {
  return JITQUILL_OK;
}
jitquill_status function(const jitquill_function_info*, std::uint64_t*) {
  return JITQUILL_OK;
}
jitquill_status enter(std::uint64_t, std::uint64_t) {
  return JITQUILL_OK;
}
jitquill_status post(std::uint32_t, const void*, std::size_t) {
  return JITQUILL_OK;
}
jitquill_status stack(const void*, const void*) {
  return JITQUILL_OK;
}
const void* return_address(const void* found, const void*) {
  return found;
}
const std::uint32_t* wanted_events() {
  return nullptr;
}
jitquill_status post_text(std::uint32_t, const void*, std::size_t, const char*, std::size_t) {
  return JITQUILL_OK;
}
const jitquill_trace_functions* trace() {
  return nullptr;
}

}  // namespace

std::vector<Code> loads() {
  const std::lock_guard<std::mutex> hold(lock);
  return loaded;
}

std::vector<const void*> unloads() {
  const std::lock_guard<std::mutex> hold(lock);
  return unloaded;
}

std::vector<Move> moves() {
  const std::lock_guard<std::mutex> hold(lock);
  return moved_code;
}

const Code load_of(const std::string& name) {
  for (const Code& code : loads())
    if (code.name == name) return code;
  throw std::runtime_error("not announced: " + name);
}

void clear() {
  const std::lock_guard<std::mutex> hold(lock);
  loaded.clear();
  unloaded.clear();
  moved_code.clear();
}

void set_wanted(bool wanted) {
  is_wanted = wanted;
}
void set_sites_wanted(bool wanted) {
  are_sites_wanted = wanted;
}
SiteCalls site_calls() {
  return {captured_site_calls[0], captured_site_calls[1], captured_site_calls[2]};
}
void switch_sites(const Code& code, bool on) {
  for (const jitquill_site& site : code.sites)
    __builtin_memcpy(code.writable + site.offset, on ? "\x41\xBA" : "\xEB\x09", 2);
}
void on_unload(OnUnload callback) {
  unload_callback = callback;
}

}  // namespace capture

extern "C" const jitquill_functions jitquill_functions_v1 = {
    sizeof(jitquill_functions),
    0,
    capture::status_text,
    capture::start,
    capture::stop,
    capture::wants_code,
    capture::output_folder,
    capture::load,
    capture::unload,
    capture::unwinding_size,
    capture::statistic_at,
    capture::moved,
    capture::moved_to,
    capture::wants_sites,
    capture::site_hook,
    capture::set_hooks,
    capture::function,
    capture::enter,
    capture::enter,
    capture::post,
    capture::stack,
    capture::return_address,
    capture::wanted_events,
    capture::post_text,
    capture::trace,
};
