#include "agent/stacks/plugin.hpp"

// libunwind for another process, whose memory it asks for: the same CPU, but nothing of ours by itself.
#include <libunwind-x86_64.h>

#include <cstring>

extern "C" int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t space, unw_word_t ip,
                                                  unw_dyn_info_t* table, unw_proc_info_t* found,
                                                  int needs_unwind_info, void* to);

namespace jitquill::stacks {
namespace {

// One call of step(), as libunwind's callbacks see it.
struct Walk {
  const Memory& memory;
  std::uint64_t pc;
  std::uint64_t tables;
  const Registers& registers;
  bool is_broken = false;  // something that it needed is not there: what it answers is a guess
};

Walk& walk_of(void* to) noexcept {
  return *static_cast<Walk*>(to);
}

bool read(Walk& walk, std::uint64_t address, void* bytes, std::size_t size) noexcept {
  std::uint64_t word = 0;
  if (walk.memory.read(walk.memory.to, address, &word) == 0) return false;
  std::memcpy(bytes, &word, size);
  return true;
}

// .eh_frame_hdr: | version u8 | encodings: .eh_frame u8, count u8, rows u8 | .eh_frame | count | rows |. Only
// as linkers write it: 4 bytes each, rows relative to the header and sorted.
constexpr std::uint32_t kUsualHeader = 0x3B031B01;
constexpr std::size_t kRowsAt = 12;

int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t* found, int needs_unwind_info,
                   void* to) {
  Walk& walk = walk_of(to);
  std::uint32_t head = 0, count = 0;
  unw_dyn_info_t table{};
  table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
  table.end_ip = ~unw_word_t{0};
  table.u.rti.segbase = walk.tables;
  table.u.rti.table_data = walk.tables + kRowsAt;
  const bool has_rows = walk.tables != 0 && read(walk, walk.tables, &head, sizeof head) &&
                        read(walk, walk.tables + 8, &count, sizeof count) && head == kUsualHeader &&
                        count != 0;
  table.u.rti.table_len = count;
  const int status = has_rows
                         ? _Ux86_64_dwarf_search_unwind_table(space, ip, &table, found, needs_unwind_info, to)
                         : -UNW_ENOINFO;
  if (status < 0) walk.is_broken = true;
  return status;
}

void put_unwind_info(unw_addr_space_t, unw_proc_info_t*, void*) {}

int get_dyn_info_list(unw_addr_space_t, unw_word_t*, void*) {
  return -UNW_ENOINFO;
}

int access_mem(unw_addr_space_t, unw_word_t address, unw_word_t* value, int is_write, void* to) {
  Walk& walk = walk_of(to);
  if (is_write == 0 && read(walk, address, value, sizeof *value)) return 0;
  walk.is_broken = true;
  return -UNW_EINVAL;
}

int access_reg(unw_addr_space_t, unw_regnum_t number, unw_word_t* value, int is_write, void* to) {
  const Walk& walk = walk_of(to);
  if (is_write != 0 || number < 0 || number >= static_cast<int>(Registers::kCount)) return -UNW_EBADREG;
  *value = number == UNW_X86_64_RIP ? walk.pc : walk.registers.value[number];
  return 0;
}

int access_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) {
  return -UNW_EBADREG;
}

int resume(unw_addr_space_t, unw_cursor_t*, void*) {
  return -UNW_EINVAL;
}

int get_proc_name(unw_addr_space_t, unw_word_t, char*, std::size_t, unw_word_t*, void*) {
  return -UNW_ENOINFO;
}

unw_accessors_t g_accessors{find_proc_info, put_unwind_info, get_dyn_info_list, access_mem, access_reg,
                            access_fpreg,   resume,          get_proc_name};

// Without its cache, which would be of code that may have gone since.
unw_addr_space_t make_space() noexcept {
  const unw_addr_space_t made = unw_create_addr_space(&g_accessors, 0);
  if (made != nullptr) unw_set_caching_policy(made, UNW_CACHE_NONE);
  return made;
}

// Made when the library is opened: it is taken from malloc(), in which a step's thread may stand. Who ends
// its process in a signal handler steps there.
const unw_addr_space_t g_space = make_space();

int step(const Memory* memory, std::uint64_t pc, std::uint64_t tables, Registers* registers) noexcept {
  Walk walk{*memory, pc, tables, *registers};
  unw_cursor_t cursor;
  if (g_space == nullptr || unw_init_remote(&cursor, g_space, &walk) != 0) return kUnknown;
  const int stepped = unw_step(&cursor);
  if (walk.is_broken || stepped < 0) return kUnknown;
  if (stepped == 0) return kOutermost;
  Registers caller = *registers;
  for (int number = 0; number < static_cast<int>(Registers::kCount); ++number) {
    unw_word_t value = 0;
    if (unw_get_reg(&cursor, number, &value) == 0) caller.value[number] = value;
  }
  if (walk.is_broken) return kUnknown;
  *registers = caller;
  return kCaller;
}

}  // namespace
}  // namespace jitquill::stacks

extern "C" const jitquill::stacks::Plugin jitquill_stacks_v1 = {sizeof(jitquill::stacks::Plugin), 0,
                                                                &jitquill::stacks::step};
