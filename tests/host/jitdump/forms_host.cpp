// Announces code in each form that the C API knows beside frame events, and moves some of it. argv[1]:
// nothing; forms_test.cpp knows what must be in the dump.
#include <jitquill/jitquill.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kPage = 4096;
std::uint8_t* memory;

void check(const char* what, jitquill_status status, jitquill_status expected) {
  if (status == expected) return;
  std::printf("%s: %d, expected %d\n", what, status, expected);
  std::exit(1);
}

// 64 bytes of code that no other function has.
std::uint8_t* code_at(std::size_t offset, std::uint8_t mark) {
  std::uint8_t* const at = memory + offset;
  std::memset(at, 0x90, 64);
  at[1] = mark;
  at[63] = 0xC3;
  return at;
}

jitquill_code function(const char* name, const std::uint8_t* at) {
  static const jitquill_line kLines[] = {{0, 7, 1, 0, nullptr}, {32, 8, 0, 0, nullptr}};
  jitquill_code code = {};
  code.struct_size = sizeof code;
  code.addr = at;
  code.size = 64;
  code.name = name;
  code.file = "/src/forms.src";
  code.lines = kLines;
  code.line_count = 2;
  code.room = 256;
  return code;
}

// push rbx after the first byte, as a compiler would say it: CIE "zR" with relative pointers, one FDE.
const std::uint8_t* eh_frame_for(const std::uint8_t* code) {
  static std::uint8_t section[] = {
      20, 0, 0, 0, 0,  0, 0, 0, 1, 'z', 'R', 0, 1,  0x78, 16, 1, 0x1B, 0x0C, 7,    8,  0x90, 1, 0, 0,  // CIE
      20, 0, 0, 0, 28, 0, 0, 0, 0, 0,   0,   0, 64, 0,    0,  0, 0,    0x41, 0x0E, 16, 0x83, 2, 0, 0,  // FDE
      0,  0, 0, 0};
  const std::int64_t distance = code - (section + 32);
  const auto relative = static_cast<std::int32_t>(distance);
  if (relative != distance) std::exit(2);
  std::memcpy(section + 32, &relative, sizeof relative);
  return section;
}

void announce_eh_frame() {
  jitquill_code code = function("with_eh_frame", code_at(0, 1));
  code.unwinding = JITQUILL_UNWINDING_EH_FRAME;
  code.eh_frame = eh_frame_for(memory);
  code.eh_frame_size = 52;
  if (jitquill_unwinding_size(&code) == 0) std::exit(3);
  check("eh_frame", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
  code.addr = code_at(1024, 2);  // no entry begins there
  code.name = "without_entry";
  check("foreign eh_frame", jitquill_code_loaded(&code, nullptr), JITQUILL_UNWINDING_LEFT_OUT);
}

void announce_frame_pointers() {
  jitquill_code code = function("with_frame_pointers", code_at(2048, 3));
  code.unwinding = JITQUILL_UNWINDING_FRAME_POINTERS;
  check("frame pointers", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
}

void announce_unreadable() {
  jitquill_code code = function("half_unreadable", code_at(2 * kPage - 32, 4));
  code.flags = JITQUILL_CODE_MAY_FAULT;
  mprotect(memory + 2 * kPage, kPage, PROT_NONE);
  check("unreadable", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
}

void move() {
  jitquill_code code = function("moved", code_at(4 * kPage, 5));
  code.flags = JITQUILL_CODE_MAY_MOVE;
  check("load", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
  code_at(4 * kPage + 1024, 5);
  check("move", jitquill_code_moved(memory + 4 * kPage, memory + 4 * kPage + 1024, 256), JITQUILL_OK);
  check("move again", jitquill_code_moved(memory + 4 * kPage, memory, 0), JITQUILL_NOT_FOUND);
  check("unload at the new place", jitquill_code_unloaded(memory + 4 * kPage + 1024), JITQUILL_OK);
  code = function("unmovable", code_at(4 * kPage + 2048, 6));
  check("load without the flag", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
  check("move it", jitquill_code_moved(code.addr, memory, 0), JITQUILL_NOT_FOUND);
}

// Its bytes may be unreadable where it came to, too.
void move_unreadable() {
  jitquill_code code = function("moved_unreadable", code_at(5 * kPage, 7));
  code.flags = JITQUILL_CODE_MAY_FAULT | JITQUILL_CODE_MAY_MOVE;
  check("load", jitquill_code_loaded(&code, nullptr), JITQUILL_OK);
  mprotect(memory + 6 * kPage, kPage, PROT_NONE);
  check("move to where nobody can read", jitquill_code_moved(code.addr, memory + 6 * kPage, 0), JITQUILL_OK);
}

}  // namespace

int main() {
  // Within 2 GiB of the program's own data, as a compiler's relative pointers need it.
  static std::uint8_t arena[8 * kPage] __attribute__((aligned(4096)));
  memory = arena;
  announce_eh_frame();
  announce_frame_pointers();
  announce_unreadable();
  move();
  move_unreadable();
  std::printf("%p\n", static_cast<void*>(memory));
  return 0;
}
