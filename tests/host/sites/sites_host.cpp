// Announces functions with sites, and checks what becomes of them: by patterns, moves, and at the end. Says
// what is wrong on stdout. JITQUILL_OPTIONS has hooks=add*,moved.
#include <jitquill/events.h>

#include <cstdio>
#include <utility>

#include "tests/host/sites/sled_code.hpp"

namespace {

int failures;

#define CHECK(what) check(what, #what, __LINE__)
void check(bool is_right, const char* what, int line) {
  if (is_right) return;
  std::printf("line %d: not so: %s\n", line, what);
  ++failures;
}

std::uint64_t counted(const char* name) {
  jitquill_statistic row = {};
  row.struct_size = sizeof row;
  for (std::size_t i = 0; jitquill_statistic_at(i, &row) == JITQUILL_OK; ++i)
    if (std::strcmp(row.name, name) == 0) return row.value;
  std::printf("no counter %s\n", name);
  ++failures;
  return 0;
}

constexpr std::uint32_t kAdd = 0, kJump = SledCode::kFunctionSize;

// Both sites of a function; the calls work whatever they are.
bool are(const SledCode& code, std::uint32_t at, bool on) {
  return code.is_on(at) == on && code.is_on(at + 16) == on && code.function(at)(40, 2) == 42;
}

void load_and_switch(const SledCode& code) {
  std::uint64_t add = 0, jump = 0;
  jitquill_code news = code.news("add", kAdd);
  CHECK(jitquill_code_loaded(&news, &add) == JITQUILL_OK && add != 0);
  news = code.news("jump", kJump);
  CHECK(jitquill_code_loaded(&news, &jump) == JITQUILL_OK && jump != 0);
  CHECK(are(code, kAdd, true) && are(code, kJump, false));
  CHECK(code.id(kAdd) == add && code.id(kAdd + 16) == add && code.id(kJump) == jump);
  CHECK(counted("sites_taken") == 2);

  CHECK(jitquill_set_hooks("j*") == JITQUILL_OK);
  CHECK(are(code, kAdd, false) && are(code, kJump, true));
  CHECK(counted("sites_switched") == 2);
  CHECK(jitquill_set_hooks("a,,b") == JITQUILL_BAD_ARGUMENT);
  CHECK(are(code, kAdd, false) && are(code, kJump, true) && jitquill_wants_sites() == 1);
  CHECK(jitquill_set_hooks(nullptr) == JITQUILL_OK && jitquill_wants_sites() == 0);
  CHECK(are(code, kAdd, false) && are(code, kJump, false));
  CHECK(jitquill_set_hooks("*") == JITQUILL_OK && jitquill_wants_sites() == 1);
  CHECK(are(code, kAdd, true) && are(code, kJump, true));
}

// Gone code is not written, nor code that newer code ended.
void unload(const SledCode& code) {
  CHECK(jitquill_code_unloaded(code.bytes(kJump)) == JITQUILL_OK);
  CHECK(jitquill_set_hooks("") == JITQUILL_OK);
  CHECK(are(code, kJump, true) && are(code, kAdd, false));
  jitquill_code plain = code.news("plain", kAdd);
  plain.site_count = 0;
  CHECK(jitquill_code_loaded(&plain, nullptr) == JITQUILL_OK);
  CHECK(jitquill_set_hooks("*") == JITQUILL_OK && are(code, kAdd, false));
}

void move(const SledCode& code) {
  constexpr std::uint32_t kTo = SledCode::kMovedTo, kFurther = kTo + 128;
  std::uint64_t id = 0;
  jitquill_code news = code.news("moved", kAdd);
  news.flags = JITQUILL_CODE_MAY_MOVE;
  CHECK(jitquill_code_loaded(&news, &id) == JITQUILL_OK);
  code.put_add(kTo);
  CHECK(jitquill_code_moved_to(code.bytes(kAdd), code.bytes(kTo), 0, code.writable(kTo)) == JITQUILL_OK);
  CHECK(are(code, kTo, true) && code.id(kTo) == id);
  CHECK(jitquill_set_hooks("x") == JITQUILL_OK && are(code, kTo, false));
  CHECK(are(code, kAdd, true));  // the old place is the runtime's again
  // Without a place to write, they stay as they were copied.
  code.put_add(kFurther);
  CHECK(jitquill_code_moved(code.bytes(kTo), code.bytes(kFurther), 0) == JITQUILL_OK);
  CHECK(jitquill_set_hooks("*") == JITQUILL_OK && are(code, kFurther, false));
  CHECK(counted("sites_without_place") == 1);
  // With one again.
  CHECK(jitquill_code_moved_to(code.bytes(kFurther), code.bytes(kTo), 0, code.writable(kTo)) == JITQUILL_OK);
  CHECK(are(code, kTo, true) && code.id(kTo) == id);
  CHECK(jitquill_code_moved_to(code.bytes(kTo), nullptr, 0, nullptr) == JITQUILL_BAD_ARGUMENT);
}

void refuse(const SledCode& code) {
  const std::uint64_t before = counted("sites_refused");
  code.put_add(kAdd);
  *code.writable(kAdd + 6) = 0xE9;
  jitquill_code news = code.news("refused", kAdd);
  std::uint64_t id = 0;
  CHECK(jitquill_code_loaded(&news, &id) == JITQUILL_SITES_LEFT_OUT && id != 0);
  CHECK(counted("sites_refused") == before + 1 && !code.is_on(kAdd) && code.id(kAdd) == 0);
  news.sites = nullptr;  // and a count
  CHECK(jitquill_code_loaded(&news, &id) == JITQUILL_BAD_ARGUMENT && id == 0);
}

void check_arguments() {
  const char payload[JITQUILL_POST_MOST + 1] = {};
  CHECK(jitquill_post(0xFF00, payload, 1) == JITQUILL_BAD_ARGUMENT);
  CHECK(jitquill_post(0xFFFFFFFF, payload, 1) == JITQUILL_BAD_ARGUMENT);
  CHECK(jitquill_post(1, nullptr, 1) == JITQUILL_BAD_ARGUMENT);
  CHECK(jitquill_post(1, payload, sizeof payload) == JITQUILL_TOO_LARGE);
  CHECK(jitquill_stack(payload + 8, payload + 8) == JITQUILL_BAD_ARGUMENT);
  CHECK(jitquill_enter(0, 1) == JITQUILL_OK && jitquill_leave(0, 1) == JITQUILL_OK);
  CHECK(jitquill_enter(~std::uint64_t{0}, 1) == JITQUILL_BAD_ARGUMENT);
  std::uint64_t id = 7;
  jitquill_function_info info = {};
  CHECK(jitquill_function(&info, &id) == JITQUILL_BAD_ARGUMENT && id == 0);
  info.struct_size = sizeof info;
  CHECK(jitquill_function(&info, &id) == JITQUILL_BAD_ARGUMENT);
  info.name = "loop";
  CHECK(jitquill_function(&info, nullptr) == JITQUILL_BAD_ARGUMENT);
  CHECK(jitquill_set_hooks("l*") == JITQUILL_OK);
  CHECK(jitquill_function(&info, &id) == JITQUILL_OK && id != 0);
  info.name = "other";
  CHECK(jitquill_function(&info, &id) == JITQUILL_OK && id == 0);
  CHECK(jitquill_site_hook(static_cast<jitquill_site_kind>(0)) == nullptr);
}

// Nobody records any more: what is on is switched off.
void stop(const SledCode& code) {
  CHECK(jitquill_set_hooks("*") == JITQUILL_OK && are(code, SledCode::kMovedTo, true));
  CHECK(jitquill_stop() == JITQUILL_OK && are(code, SledCode::kMovedTo, false));
  CHECK(jitquill_wants_sites() == 0 && jitquill_set_hooks("*") == JITQUILL_STOPPED);
  CHECK(are(code, SledCode::kMovedTo, false));
}

void without_agent(const SledCode& code) {
  std::uint64_t id = 7;
  jitquill_function_info info = {};
  CHECK(jitquill_wants_sites() == 0 && jitquill_set_hooks("*") == JITQUILL_NO_AGENT);
  CHECK(jitquill_site_hook(JITQUILL_SITE_ENTER) == nullptr);
  CHECK(jitquill_function(&info, &id) == JITQUILL_NO_AGENT && jitquill_enter(1, 1) == JITQUILL_NO_AGENT);
  CHECK(are(code, kAdd, false) && are(code, kJump, false));
}

}  // namespace

// The thunks were made before anybody said that stacks are wanted: calls are traced without.
int start_late(const SledCode& code) {
  const jitquill_start_options options = {sizeof options, "formats=calls hooks=* stack=add"};
  CHECK(jitquill_start(&options) == JITQUILL_OK);
  for (const auto& [name, at] : {std::pair("add", kAdd), std::pair("jump", kJump)}) {
    jitquill_code news = code.news(name, at);
    CHECK(jitquill_code_loaded(&news, nullptr) == JITQUILL_OK && are(code, at, true));
  }
  CHECK(counted("sites_without_stacks") == 1 && counted("sites_taken") == 2);
  CHECK(jitquill_stop() == JITQUILL_OK);
  return failures;
}

int main(int count, char**) {
  const SledCode code;
  if (jitquill_status_text(JITQUILL_OK) == nullptr) {
    without_agent(code);
    return failures;
  }
  if (count > 1) return start_late(code);
  CHECK(jitquill_wants_sites() == 1);
  load_and_switch(code);
  unload(code);
  move(code);
  refuse(code);
  check_arguments();
  stop(code);
  return failures;
}
