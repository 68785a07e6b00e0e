#define JITQUILL_BUILDING
#include "tests/unit/adapter/capture.hpp"

#include <atomic>
#include <mutex>
#include <stdexcept>

namespace capture {
namespace {

std::mutex lock;
std::vector<Code> loaded;
std::vector<const void*> unloaded;
std::atomic<bool> is_wanted{true};
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

}  // namespace

std::vector<Code> loads() {
  const std::lock_guard<std::mutex> hold(lock);
  return loaded;
}

std::vector<const void*> unloads() {
  const std::lock_guard<std::mutex> hold(lock);
  return unloaded;
}

const Code load_of(const std::string& name) {
  for (const Code& code : loads())
    if (code.name == name) return code;
  throw std::runtime_error("not announced: " + name);
}

jitquill_status moved(const void*, const void*, size_t) {
  return JITQUILL_OK;
}

void clear() {
  const std::lock_guard<std::mutex> hold(lock);
  loaded.clear();
  unloaded.clear();
}

void set_wanted(bool wanted) {
  is_wanted = wanted;
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
};
