#include "nib/stack_trace.hpp"

#include <dlfcn.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

namespace nib {
namespace {

// The header's names are macros for those that the library exports.
#define NIB_NAME_OF(name) #name
#define NIB_EXPORTED(name) NIB_NAME_OF(name)

struct Libunwind {
  int (*get_context)(unw_context_t*) = nullptr;
  int (*init_local)(unw_cursor_t*, unw_context_t*) = nullptr;
  int (*step)(unw_cursor_t*) = nullptr;
  int (*get_register)(unw_cursor_t*, unw_regnum_t, unw_word_t*) = nullptr;
  bool is_there = false;
};

template <class Function>
bool look_up(void* library, const char* name, Function*& to) noexcept {
  to = reinterpret_cast<Function*>(dlsym(library, name));
  return to != nullptr;
}

Libunwind open_libunwind() noexcept {
  Libunwind found;
  void* const library = dlopen("libunwind.so.8", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return found;
  found.is_there = look_up(library, NIB_EXPORTED(unw_tdep_getcontext), found.get_context) &&
                   look_up(library, NIB_EXPORTED(unw_init_local), found.init_local) &&
                   look_up(library, NIB_EXPORTED(unw_step), found.step) &&
                   look_up(library, NIB_EXPORTED(unw_get_reg), found.get_register);
  return found;
}

const Libunwind& libunwind() noexcept {
  static const Libunwind opened = open_libunwind();
  return opened;
}

// The oldest calls are known only when the walk has ended.
class Collector {
 public:
  explicit Collector(StackTrace& trace) noexcept : trace_(trace) {}

  void put(const CodeTable::Place& place) {
    if (trace_.first.size() < StackTrace::kFirst) {
      trace_.first.push_back(place);
    } else {
      newest_[count_++ % StackTrace::kLast] = place;
    }
  }
  void finish() {
    const std::size_t kept = count_ < StackTrace::kLast ? count_ : StackTrace::kLast;
    trace_.left_out = count_ - kept;
    for (std::size_t i = count_ - kept; i < count_; ++i)
      trace_.last.push_back(newest_[i % StackTrace::kLast]);
  }

 private:
  StackTrace& trace_;
  CodeTable::Place newest_[StackTrace::kLast] = {};
  std::size_t count_ = 0;
};

std::string to_line(const Source& source, const CodeTable::Place& place) {
  return "  at " + *place.function + " (" + source.name + ":" + std::to_string(place.line) + ")";
}

}  // namespace

void prepare_stack_traces() noexcept {
  (void)libunwind();
}

// From our own frame through nib_fail to the program's; the program's frames are in one piece.
void walk_stack(const CodeTable& code, StackTrace& trace) {
  if (code.empty()) {
    trace.missing = "no stack trace: the agent, libjitquill.so, is not there to register nib's frames";
    return;
  }
  if (!libunwind().is_there) {
    trace.missing = "no stack trace: libunwind.so.8 cannot be loaded; Debian has it in libunwind8";
    return;
  }
  unw_context_t context;
  unw_cursor_t cursor;
  Collector collector(trace);
  if (libunwind().get_context(&context) != 0 || libunwind().init_local(&cursor, &context) != 0) return;
  bool is_inside = false;
  std::vector<CodeTable::Place> places;
  while (libunwind().step(&cursor) > 0) {
    unw_word_t pc = 0;
    if (libunwind().get_register(&cursor, UNW_REG_IP, &pc) != 0) break;
    code.find(pc - 1, places);  // the call, not what comes behind it
    if (places.empty() && is_inside) break;
    is_inside = !places.empty();
    for (const CodeTable::Place& each : places) collector.put(each);
  }
  collector.finish();
}

std::vector<std::string> to_lines(const Source& source, const StackTrace& trace) {
  if (!trace.missing.empty()) return {"  (" + trace.missing + ")"};
  std::vector<std::string> lines;
  for (const CodeTable::Place& place : trace.first) lines.push_back(to_line(source, place));
  if (trace.left_out > 0) lines.push_back("  ... " + std::to_string(trace.left_out) + " calls left out");
  for (const CodeTable::Place& place : trace.last) lines.push_back(to_line(source, place));
  return lines;
}

}  // namespace nib
