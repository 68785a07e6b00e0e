#include "tests/fuzz/ground.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <unordered_set>

#include "agent/base/arena.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/intake/lookout.hpp"
#include "agent/intake/own_dump.hpp"
#include "agent/intake/symfile/open_plugin.hpp"
#include "agent/intake/told.hpp"
#include "tests/fuzz/told_checks.hpp"

namespace fuzz {
namespace {

Setting g_setting;
bool g_may_fail = false;
bool g_has_failed = false;
std::set<std::uint64_t> g_live;
std::unordered_set<void*> g_blocks;  // of the intakes' memory
std::optional<jitquill::intake::Follower> g_follower;
void (*g_put_off)() = nullptr;

bool fails() {
  if (!g_may_fail) return false;
  if (g_setting.allocations > 1) return --g_setting.allocations, false;
  return g_has_failed = true;
}

bool g_is_left = false;

}  // namespace

void break_off(const char* promise) {
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

void begin(const Setting& setting) {
  g_setting = setting;
  g_may_fail = setting.allocations != 0;
  g_has_failed = false;
  g_live.clear();
}

void run_on(std::uint32_t tid) {
  g_setting.tid = tid;
}

void stop_failing() {
  g_may_fail = false;
}

bool has_any_failed() {
  return g_has_failed;
}

std::size_t free_all() {
  const std::size_t count = g_blocks.size();
  for (void* const block : g_blocks) std::free(block);
  g_blocks.clear();
  return count;
}

void look() {
  if (g_follower) g_follower->look();
}

void last_look() {
  if (g_follower) g_follower->last_look();
}

void tell_what_was_put_off() {
  if (g_put_off != nullptr) g_put_off();
}

std::uint64_t live_functions() {
  return g_live.size();
}

void leave_to_own_dump(bool is_left) {
  g_is_left = is_left;
}

}  // namespace fuzz

namespace jitquill {

// Any will do: it tells files apart.
std::uint64_t hash_of(std::span<const std::uint8_t> bytes) noexcept {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void* Arena::allocate(std::size_t size) noexcept {
  void* const block = fuzz::fails() ? nullptr : std::malloc(size);
  if (block != nullptr) fuzz::g_blocks.insert(block);
  return block;
}
void Arena::free(void* block) noexcept {
  fuzz::g_blocks.erase(block);
  std::free(block);
}

std::uint32_t current_pid() noexcept {
  return 1;
}
std::uint32_t current_tid() noexcept {
  return fuzz::g_setting.tid;
}

}  // namespace jitquill

namespace jitquill::intake {

bool wants_code() noexcept {
  return true;
}
bool wants_inlining() noexcept {
  return fuzz::g_setting.wants_inlining;
}
void remark(std::string_view) {}

bool is_left_to_own_dump() noexcept {
  return fuzz::g_is_left;
}
bool makes_code() noexcept {
  return true;
}
bool is_in_both_dumps() noexcept {
  return false;
}

Status open_outputs() {
  return Status::kOk;
}

Status tell_load(CodeLoad& load) {
  if (!is_placeable(load.address, load.bytes.size())) return Status::kTooLarge;
  fuzz::check(load);
  fuzz::g_live.insert(load.address);
  return Status::kOk;
}
void tell_loads(std::span<CodeLoad> loads, std::span<Status> told) {
  fuzz::require(told.size() == loads.size(), "each load has a status");
  for (std::size_t i = 0; i < loads.size(); ++i) told[i] = tell_load(loads[i]);
}
Status tell_unload(std::uint64_t address) {
  fuzz::require(address != 0, "what ends has an address");
  fuzz::g_live.erase(address);
  return Status::kOk;
}

void follow(const Follower& follower) noexcept {
  fuzz::g_follower = follower;
}
void put_off(void (*tell)()) noexcept {
  fuzz::g_put_off = tell;
}

bool open_symfile_plugin() {
  return true;
}
const symfile::Plugin* symfile_plugin() noexcept {
  return fuzz::g_setting.has_plugin ? &jitquill_symfile_v1 : nullptr;
}

}  // namespace jitquill::intake
