// An input is what a JIT does with the GDB JIT interface: the code of its register function, steps of four
// bytes (gdb_steps.def), and two symbol files. All entries lie in the host's data; small numbers choose among
// them and among pointers to nowhere.
#include <sys/mman.h>

#include <new>
#include <vector>

#include "agent/base/loaded_objects.hpp"
// All of it: each input begins with an intake that has seen nothing.
#include "agent/intake/gdb/gdb.cpp"  // NOLINT(bugprone-suspicious-include)
#include "agent/intake/symfile/plugin.hpp"
#include "tests/fuzz/ground.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/input.hpp"

// A page of its own, since it is patched.
asm(R"(
  .pushsection .text.register, "ax", @progbits
  .p2align 12
  .globl __jit_debug_register_code
  .type __jit_debug_register_code, @function
__jit_debug_register_code:
  ret
  .fill 4095, 1, 0
  .size __jit_debug_register_code, 4096
  .popsection
)");

extern "C" {
void __jit_debug_register_code();
[[gnu::used]] jitquill::gdb::JitDescriptor __jit_debug_descriptor{};
}

namespace {

namespace gdb = jitquill::gdb;
using gdb::JitEntry;

constexpr std::size_t kEntryCode = 16;
constexpr std::uint64_t kEntries = 8;

struct Host {
  std::vector<std::uint8_t> files[2];
};

std::uint64_t pointer(std::uint8_t choice) {
  if (choice < kEntries) return fuzz::kData + choice * sizeof(JitEntry);
  switch (choice % 8) {
    case 0:
      return 0;
    case 1:
      return fuzz::kNowhere;
    case 2:
      return fuzz::kDataEnd - sizeof(JitEntry) / 2;
    case 3:
      return fuzz::kData + choice;  // in the middle of some
    case 4:
      return ~std::uint64_t{choice};
    default:
      return std::uint64_t{choice} << 40;
  }
}

JitEntry& entry(std::uint8_t choice) {
  return *reinterpret_cast<JitEntry*>(fuzz::kData + choice % kEntries * sizeof(JitEntry));
}

void attach() {
  (void)jitquill::intake::under_intake_lock([] {
    jitquill::for_each_loaded_object(
        [](const jitquill::ElfObject& object) { (void)jitquill::intake::look_for_gdb(object); });
    jitquill::intake::start_gdb();
  });
}

std::uint8_t* register_code() {
  return reinterpret_cast<std::uint8_t*>(&__jit_debug_register_code);
}

constexpr std::uint8_t kJump[] = {0xFF, 0x25};

bool has_jump() {
  return std::memcmp(register_code(), kJump, sizeof kJump) == 0;
}

// As an object that came again: unpatched.
void put_register_code(fuzz::Bytes code) {
  constexpr std::uint8_t kReturn = 0xC3;
  fuzz::require(mprotect(register_code(), fuzz::kPage, PROT_READ | PROT_WRITE | PROT_EXEC) == 0,
                "code can be changed");
  std::memset(register_code(), 0, 2 * kEntryCode);
  register_code()[0] = kReturn;
  if (!code.empty()) std::memcpy(register_code(), code.data(), code.size());
  if (has_jump()) register_code()[0] = kReturn;  // only one that was put there is followed
}

// What the input made of the function never runs, but the jump in its place.
void call_register(std::uint32_t version, std::uint32_t action, std::uint64_t relevant) {
  __jit_debug_descriptor.version = version;
  __jit_debug_descriptor.action = action;
  __jit_debug_descriptor.relevant = relevant;
  if (has_jump()) __jit_debug_register_code();
}

std::uint64_t changed(std::uint64_t size, std::uint8_t how) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const std::uint64_t sizes[] = {size, size + 1, size - 1, size / 2, 0, kGiB, kGiB + 1, ~std::uint64_t{0}};
  return how < std::size(sizes) ? sizes[how] : size;
}

// As the JIT would: what has an address is there.
void load_sections(fuzz::Bytes file) {
  const auto see = [](void*, const jitquill::symfile::Section* section) {
    if (section->content != nullptr)
      fuzz::put_code(section->address, {section->content, static_cast<std::size_t>(section->size)});
  };
  (void)jitquill_symfile_v1.sections(file.data(), file.size(), see, nullptr);
}

struct Step {
  std::uint8_t a;
  std::uint8_t b;
  std::uint8_t c;
  const std::vector<std::uint8_t>& file;
  fuzz::Input& more;
};

namespace steps {

void link(const Step& step) {
  entry(step.a).next = pointer(step.b);
  entry(step.a).previous = pointer(step.c);
}
void file(const Step& step) {
  entry(step.a).symfile = reinterpret_cast<std::uint64_t>(step.file.data());
  entry(step.a).symfile_size = changed(step.file.size(), step.c);
}
void first(const Step& step) {
  __jit_debug_descriptor.first = pointer(step.a);
}
void add(const Step& step) {
  call_register(1, gdb::kRegister, pointer(step.a));
}
void drop(const Step& step) {
  call_register(1, gdb::kUnregister, pointer(step.a));
}
void call(const Step& step) {
  call_register(step.c, step.b, pointer(step.a));
}
void load(const Step& step) {
  load_sections(step.file);
}
void relocate(const Step& step) {
  fuzz::put_code(fuzz::kCode + step.a * 16u, {&step.b, 1});
}
void finish(const Step& step) {
  (void)jitquill::intake::under_intake_lock([&] { gdb::became_final(fuzz::kCode + step.a * 16u, step.b); });
}
void look(const Step&) {
  (void)jitquill::intake::under_intake_lock(fuzz::look);
}
void come_again(const Step& step) {
  put_register_code(step.a % 2 == 0 ? fuzz::Bytes{} : step.more.take(kEntryCode));
  attach();
}
void leave(const Step& step) {
  if (step.a == step.b) fuzz::leave_to_own_dump(true);
}
void code_file(const Step& step) {
  entry(step.a).symfile = fuzz::kCode + step.b * 64u;
  entry(step.a).symfile_size = step.c * 64u;
}

constexpr void (*kAll[])(const Step& step) = {
#define GDB_STEP(name) &name,
#include "tests/fuzz/gdb_steps.def"
#undef GDB_STEP
};

}  // namespace steps

void next_step(const Host& host, fuzz::Input& input) {
  const unsigned what = input.byte() % std::size(steps::kAll);
  const std::uint8_t a = input.byte();
  const std::uint8_t b = input.byte();
  const std::uint8_t c = input.byte();
  steps::kAll[what]({a, b, c, host.files[b % 2], input});
}

// Nothing is registered any more, and the intake begins anew.
void end_all() {
  fuzz::stop_failing();
  fuzz::leave_to_own_dump(false);
  __jit_debug_descriptor = {1, gdb::kNothing, 0, 0};
  for (const gdb::Pair& pair : gdb::g_pairs.all()) gdb::g_registered.walk(pair);
  fuzz::require(!gdb::anything_waits(), "nothing waits that is not registered");
  fuzz::require(fuzz::has_any_failed() || fuzz::live_functions() == 0, "functions end with their file");
  new (&gdb::g_registered) gdb::Registered;
  gdb::g_pairs = {};
  gdb::g_hidden = {};
  gdb::g_is_followed = false;
  constexpr std::size_t kTables = 2;  // of what is registered, and of files that were looked at
  fuzz::require(fuzz::free_all() <= kTables, "what ends leaves no memory behind");
}

}  // namespace

// | has plugin | allocations | register function 16 | number of steps | steps | size of file 0, 2 | files |
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input({data, size});
  fuzz::clear_host_memory();
  fuzz::Setting setting;
  setting.has_plugin = input.byte() % 8 != 7;
  setting.allocations = input.byte();
  fuzz::Input head(input.take(kEntryCode));
  fuzz::Input steps(input.take(input.byte() * 4u));
  Host host;
  const fuzz::Bytes first = input.take(input.next<std::uint16_t>());
  host.files[0].assign(first.begin(), first.end());
  host.files[1].assign(input.rest().begin(), input.rest().end());

  __jit_debug_descriptor = {1, gdb::kNothing, 0, 0};
  fuzz::begin(setting);
  put_register_code(head.rest().size() < kEntryCode ? fuzz::Bytes{} : head.rest());
  attach();
  while (!steps.is_empty()) next_step(host, steps);
  (void)jitquill::intake::under_intake_lock(fuzz::last_look);
  end_all();
  return 0;
}
