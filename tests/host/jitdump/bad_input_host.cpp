// Hands the agent what it must refuse or repair, and compares each status with the documented one. Prints a
// line for each that differs. The driver looks at what the dump holds afterwards.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "tests/host/jitdump/code_memory.hpp"

namespace {

constexpr int kErrnoOfHost = 1234;
int failures = 0;

void expect(const char* what, long is, long wanted) {
  if (is != wanted) {
    std::printf("%s: %ld, not %ld\n", what, is, wanted);
    ++failures;
  }
  if (errno != kErrnoOfHost) {
    std::printf("%s: changed errno to %d\n", what, errno);
    ++failures;
  }
  errno = kErrnoOfHost;
}

// Each function gets memory of its own, so that all of them stay alive.
class Functions {
 public:
  jitquill_code next(const char* name) {
    jitquill_code code = {};
    code.struct_size = sizeof code;
    code.addr = memory_.at(used_);
    code.size = pattern::code_size(used_);
    code.room = pattern::kSpacing - code.size;
    code.name = name;
    code.file = "/src/own.nib";
    std::memset(memory_.at(used_), 0xCC, code.size);
    ++used_;
    return code;
  }

 private:
  CodeMemory memory_{64};
  std::uint32_t used_ = 0;
};

void announce(const char* what, const jitquill_code& code, jitquill_status wanted) {
  std::uint64_t id = 77;
  expect(what, jitquill_code_loaded(&code, &id), wanted);
  expect("id is 0 exactly when refused", id == 0, wanted < 0);
}

void refused(Functions& functions) {
  std::uint64_t id = 77;
  expect("no struct", jitquill_code_loaded(nullptr, &id), JITQUILL_BAD_ARGUMENT);
  expect("its id", static_cast<long>(id), 0);
  const jitquill_code good = functions.next("refused");
  jitquill_code code = good;
  code.struct_size = 0;
  announce("struct_size 0", code, JITQUILL_BAD_ARGUMENT);
  code = good;
  code.addr = nullptr;
  announce("no address", code, JITQUILL_BAD_ARGUMENT);
  code = good;
  code.size = 0;
  announce("size 0", code, JITQUILL_EMPTY_CODE);
  code = good;
  code.size = std::size_t{1} << 31;
  announce("2 GiB", code, JITQUILL_TOO_LARGE);
  code.size = SIZE_MAX;
  announce("all of memory", code, JITQUILL_TOO_LARGE);
  code = good;
  code.line_count = 1;
  announce("lines without rows", code, JITQUILL_BAD_ARGUMENT);
  const jitquill_line line = {};
  code.lines = &line;
  code.line_count = SIZE_MAX;
  announce("more lines than memory holds", code, JITQUILL_BAD_ARGUMENT);
  code = good;
  code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  code.frame_count = 1;
  announce("frame without events", code, JITQUILL_BAD_ARGUMENT);
  expect("unload of nothing", jitquill_code_unloaded(nullptr), JITQUILL_NOT_FOUND);
  expect("unload of what was refused", jitquill_code_unloaded(good.addr), JITQUILL_NOT_FOUND);
}

// What the agent has counted; a name that it does not know is counted by nobody.
std::uint64_t counted(const std::string& name) {
  jitquill_statistic row = {};
  row.struct_size = sizeof row;
  for (std::size_t i = 0; jitquill_statistic_at(i, &row) == JITQUILL_OK; ++i) {
    if (name == row.name) return row.value;
  }
  return ~std::uint64_t{0};
}

void names(Functions& functions) {
  announce("control characters",
           functions.next("a\tb\nc\x7F"
                          "d\x1B"),
           JITQUILL_OK);
  const std::string longest(5'000, 'n');
  announce("5000 bytes", functions.next(longest.c_str()), JITQUILL_OK);
  announce("no name", functions.next(nullptr), JITQUILL_OK);
  announce("empty name", functions.next(""), JITQUILL_OK);
  announce("UTF-8", functions.next("f\xC3\xBCr<T>(int, \xE2\x88\x80)"), JITQUILL_OK);
  expect("names that were changed", counted("names_changed") == 2, 1);
}

void lines(Functions& functions) {
  const jitquill_line unsorted[] = {{8, 1, 0, 0, nullptr}, {4, 2, 0, 0, nullptr}};
  const jitquill_line outside[] = {{0, 1, 0, 0, nullptr}, {100'000, 2, 0, 0, nullptr}};
  const jitquill_line good[] = {{0, 1, 0, 0, nullptr}};
  for (const auto& [name, rows, count] : {std::tuple{"lines_unsorted", &unsorted[0], std::size_t{2}},
                                          std::tuple{"lines_outside", &outside[0], std::size_t{2}},
                                          std::tuple{"lines_nowhere", &good[0], std::size_t{1}}}) {
    jitquill_code code = functions.next(name);
    code.lines = rows;
    code.line_count = count;
    if (rows == good) code.file = nullptr;
    announce(name, code, JITQUILL_LINES_LEFT_OUT);
  }
}

void frames(Functions& functions) {
  const std::vector<std::vector<jitquill_frame_event>> bad = {
      {{1, JITQUILL_FRAME_POP, 3, 0, 0}},                                      // nothing was pushed
      {{4, JITQUILL_FRAME_PUSH, 3, 0, 0}, {2, JITQUILL_FRAME_PUSH, 6, 0, 0}},  // descending
      {{60'000, JITQUILL_FRAME_PUSH, 3, 0, 0}},                                // behind the code
      {{1, 99, 3, 0, 0}},                                                      // unknown kind
      {{1, JITQUILL_FRAME_PUSH, 16, 0, 0}},                                    // no such register
      {{1, JITQUILL_FRAME_FREE, 0, 0, 8}},                                     // frees the return address
      {{1, JITQUILL_FRAME_RECALL, 0, 0, 0}},                                   // nothing was remembered
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const std::string name = "frame_bad_" + std::to_string(i);
    jitquill_code code = functions.next(name.c_str());
    code.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
    code.frame = bad[i].data();
    code.frame_count = bad[i].size();
    announce(name.c_str(), code, JITQUILL_UNWINDING_LEFT_OUT);
    expect("its unwinding size", static_cast<long>(jitquill_unwinding_size(&code)), 0);
  }
  jitquill_code newer = functions.next("frame_of_newer_kind");
  newer.unwinding = 99;
  announce("unknown unwinding", newer, JITQUILL_UNWINDING_LEFT_OUT);
  jitquill_code leaf = functions.next("frame_leaf");
  leaf.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  announce("leaf without events", leaf, JITQUILL_OK);
  expect("a leaf has tables too", jitquill_unwinding_size(&leaf) > 0, 1);
}

void questions() {
  expect("statistic to nowhere", jitquill_statistic_at(0, nullptr), JITQUILL_BAD_ARGUMENT);
  jitquill_statistic statistic = {};
  expect("statistic of size 0", jitquill_statistic_at(0, &statistic), JITQUILL_BAD_ARGUMENT);
  statistic.struct_size = sizeof statistic;
  expect("first statistic", jitquill_statistic_at(0, &statistic), JITQUILL_OK);
  expect("behind the last", jitquill_statistic_at(1'000'000, &statistic), JITQUILL_NOT_FOUND);
  for (int status = JITQUILL_BUSY - 3; status <= JITQUILL_NO_MARKER + 3; ++status) {
    expect("text of a status", jitquill_status_text(static_cast<jitquill_status>(status)) != nullptr, 1);
  }
}

void life(Functions& functions) {
  jitquill_start_options options = {};
  expect("start of size 0", jitquill_start(&options), JITQUILL_BAD_ARGUMENT);
  expect("start when open", jitquill_start(nullptr), JITQUILL_OK);
  const std::string first = jitquill_output_folder();
  expect("stop", jitquill_stop(), JITQUILL_OK);
  expect("stop again", jitquill_stop(), JITQUILL_OK);
  expect("wants code when stopped", jitquill_wants_code(), 0);
  announce("when stopped", functions.next("when_stopped"), JITQUILL_STOPPED);
  expect("start anew", jitquill_start(nullptr), JITQUILL_OK);
  announce("when started anew", functions.next("started_anew"), JITQUILL_OK);
  expect("another folder", first != jitquill_output_folder(), 1);
}

}  // namespace

int main() {
  errno = kErrnoOfHost;
  Functions functions;
  refused(functions);
  names(functions);
  lines(functions);
  frames(functions);
  questions();
  life(functions);
  return failures == 0 ? 0 : 1;
}
