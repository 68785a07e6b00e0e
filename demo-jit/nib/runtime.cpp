#include "nib/runtime.hpp"

#include <setjmp.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "nib/executable.hpp"
#include "nib/str.hpp"
#include "nib/telling.hpp"
#include "nib/world.hpp"

namespace nib {
namespace {

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

// A function of its own: locals of a function that calls setjmp are lost at a longjmp when they changed.
[[gnu::noinline]] void call_main(Thread& thread, void (*entry)()) {
  if (setjmp(thread.leave) != 0) return;
  thread.world->result().start_ns = now_ns();
  entry();
}

// The program's main thread. A run may be inside of another one's output. Also when `output` throws.
class MainThread {
 public:
  explicit MainThread(World& world) : world_(world), outer_(this_thread) {
    if (outer_ != nullptr) outer_->world->move_words(*outer_, outer_words_);
    world.attach(thread_);
  }
  ~MainThread() {
    world_.end_others();
    world_.detach();
    this_thread = outer_;
    if (outer_ == nullptr) return;
    outer_->world->move_words(*outer_, words);
    tell_capability_taken(outer_->capability);
  }
  MainThread(const MainThread&) = delete;
  MainThread& operator=(const MainThread&) = delete;

  void run(void (*entry)()) {
    call_main(thread_, entry);
    words.frames = nullptr;
    world_.wait_for_others();
  }

 private:
  World& world_;
  Thread* outer_;
  ThreadWords outer_words_{};  // of the outer run, whose threads may want to stop it meanwhile
  Thread thread_;
};

template <class T>
T* initialised(std::byte* memory, std::size_t size, T value) noexcept {
  value.head.place = Heap::is_small(size) ? Place::kBlock : Place::kLarge;
  return new (memory) T(value);
}

}  // namespace

RunResult run(void (*entry)(), const Output& output, const CodeTable* code, const HeapOptions& heap,
              std::size_t workers) {
  World world(output, code, heap, workers);
  {
    MainThread main(world);
    main.run(entry);
  }
  world.result().end_ns = now_ns();
  return std::move(world.result());
}

std::int32_t thread_words_offset() noexcept {
  // %fs:0 holds its own address (System V ABI for x86-64, thread-local storage).
  std::uintptr_t thread_pointer = 0;
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
  return static_cast<std::int32_t>(reinterpret_cast<std::uintptr_t>(&words) - thread_pointer);
}

// ---- Code ----

void* code_at(const CodePoint& point) {
  void* const code = this_thread->world->code_at(point);
  const bool is_needed = point.form.entry == Form::Entry::kSpawn || point.form.tier == Tier::kFirst;
  if (code == nullptr && is_needed) nib_fail(point.site);
  return code;
}

// Where a function is called that has no code: `registers` are those of arguments, `stack` the others.
extern "C" void* nib_find_missing(Executable* executable, std::uint32_t index, std::int64_t* registers,
                                  std::int64_t* stack) {
  constexpr std::size_t kInRegisters = 6, kFloatsInRegisters = 8;
  const Function& function = executable->program().functions[index];
  Object* references[kMaxParameters] = {};
  std::size_t integers = 0, floats = 0, on_stack = 0;
  for (std::uint32_t i = 0; i < function.parameter_count; ++i) {
    const Type type = function.variables[i].type;
    const bool is_float = type == Type::kFloat;
    const bool fits = is_float ? floats++ < kFloatsInRegisters : integers++ < kInRegisters;
    const std::int64_t* const word = fits && !is_float ? registers + integers - 1
                                     : fits            ? nullptr
                                                       : stack + on_stack++;
    if (type.is_reference()) references[i] = reinterpret_cast<Object*>(*word);
  }
  const Rooted<kMaxParameters> root(references);
  return code_at(executable->point_of(index));
}

// eax: the function's index, r10: the Executable; all else is as the caller left it.
asm(R"(
  .pushsection .text
  .globl nib_enter_missing
  .type nib_enter_missing, @function
nib_enter_missing:
  .cfi_startproc
  .irp register, r9, r8, rcx, rdx, rsi, rdi
  push %\register
  .cfi_adjust_cfa_offset 8
  .endr
  sub $136, %rsp
  .cfi_adjust_cfa_offset 136
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movaps %xmm\number, 16*\number(%rsp)
  .endr
  mov %r10, %rdi
  mov %eax, %esi
  lea 136(%rsp), %rdx
  lea 136+6*8+8(%rsp), %rcx
  call nib_find_missing@PLT
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7
  movaps 16*\number(%rsp), %xmm\number
  .endr
  add $136, %rsp
  .cfi_adjust_cfa_offset -136
  .irp register, rdi, rsi, rdx, rcx, r8, r9
  pop %\register
  .cfi_adjust_cfa_offset -8
  .endr
  jmp *%rax
  .cfi_endproc
  .size nib_enter_missing, .-nib_enter_missing
  .popsection
)");

// ---- Stops and faults ----

void fail(const FaultSite& site, Fault kind, std::int64_t first, std::int64_t second) {
  this_thread->world->fail(site, kind, first, second);
}

// `rsp` is that of the jitted code.
extern "C" void nib_poll(const FaultSite* site, std::uintptr_t rsp) {
  if (site != nullptr && rsp < this_thread->own_limit) nib_fail(site);
  this_thread->world->poll();
}

extern "C" void nib_transfer(const CodePoint* point) {
  words.target = code_at(*point);
}

// NAME_keeping_registers calls NAME with its argument and the stack pointer of its caller.
asm(R"(
  .macro nib_keeping_registers name
  .pushsection .text
  .globl \name\()_keeping_registers
  .type \name\()_keeping_registers, @function
\name\()_keeping_registers:
  .cfi_startproc
  .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
  push %\register
  .cfi_adjust_cfa_offset 8
  .endr
  sub $256, %rsp
  .cfi_adjust_cfa_offset 256
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movaps %xmm\number, 16*\number(%rsp)
  .endr
  lea 256+9*8+8(%rsp), %rsi
  call \name@PLT
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  movaps 16*\number(%rsp), %xmm\number
  .endr
  add $256, %rsp
  .cfi_adjust_cfa_offset -256
  .irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
  pop %\register
  .cfi_adjust_cfa_offset -8
  .endr
  ret
  .cfi_endproc
  .size \name\()_keeping_registers, .-\name\()_keeping_registers
  .popsection
  .endm
  nib_keeping_registers nib_poll
  nib_keeping_registers nib_transfer
)");

void nib_fail(const FaultSite* site) {
  nib_fail_with(site, 0, 0);
}

void nib_fail_with(const FaultSite* site, std::int64_t first, std::int64_t second) {
  fail(*site, site->fault, first, second);
}

// ---- Output ----

void nib_print_int(std::int64_t value) {
  this_thread->world->print(NumberText(value).line());
}

void nib_print_bool(std::int64_t value) {
  this_thread->world->print(value != 0 ? "true\n" : "false\n");
}

void nib_print_float(double value) {
  this_thread->world->print(NumberText(value).line());
}

void nib_print_str(const Array* value) {
  this_thread->world->print(std::string(value->text()) + "\n");
}

void nib_marker(const Array* text) {
  tell_marker(text->text());
}

void nib_message(const Array* text) {
  tell_message(text->text());
}

// ---- New objects ----

Array* new_array(const FaultSite& site, Kind kind, std::int64_t length) {
  World& world = *this_thread->world;
  const std::int64_t longest = world.heap().max_length(kind);
  if (length < 0 || length > longest) fail(site, site.fault, length, longest);
  const Array array{{.kind = kind}, length};
  const std::size_t size = size_of(array.head);
  return initialised(world.allocate(site, size), size, array);
}

Array* nib_new_array(const FaultSite* site, std::int64_t length, std::int64_t value, std::int64_t kind) {
  const bool is_reference = static_cast<Kind>(kind) == Kind::kReferences;
  const Rooted root(reinterpret_cast<Object*>(is_reference ? value : 0));
  Array* const array = new_array(*site, static_cast<Kind>(kind), length);
  if (array->head.kind == Kind::kBytes) {
    std::fill_n(static_cast<std::int8_t*>(array->elements()), length, static_cast<std::int8_t>(value));
  } else {
    std::fill_n(static_cast<std::int64_t*>(array->elements()), length, value);
  }
  return array;
}

Array* nib_new_floats(const FaultSite* site, std::int64_t length, double value) {
  return nib_new_array(site, length, std::bit_cast<std::int64_t>(value),
                       static_cast<std::int64_t>(Kind::kWords));
}

Object* nib_new_record(const FaultSite* site, std::int64_t header) {
  const auto head = std::bit_cast<Object>(header);
  return new (this_thread->world->allocate(*site, size_of(head))) Object(head);
}

// ---- Threads ----

Task* nib_spawn(const FaultSite* site, const CodePoint* code, const std::int64_t* arguments,
                std::int64_t shape) {
  World& world = *this_thread->world;
  const auto count = static_cast<std::uint8_t>(shape & 0xff);
  const bool gives_reference = (shape >> 8 & 1) != 0, is_spark = (shape >> 9 & 1) != 0;
  const Object passed{
      .kind = Kind::kRecord, .fields = count, .references = static_cast<std::uint16_t>(shape >> 16)};
  auto* const record = new (world.allocate(*site, size_of(passed))) Object(passed);
  std::copy_n(arguments, count, reinterpret_cast<std::int64_t*>(record + 1));
  const Rooted root_of_record(record);
  auto* const task = new (world.allocate(*site, sizeof(Task)))
      Task{.head = {.kind = Kind::kTask, .references = gives_reference},
           .state = is_spark ? Task::State::kWaiting : Task::State::kRunning,
           .result = 0,
           .code = code,
           .arguments = record};
  const Rooted root(task);
  if (is_spark) {
    world.put(*task);
  } else if (!world.start(*task, site->text)) {
    fail(*site, Fault::kNoThread, 0, 0);
  }
  return task;
}

std::int64_t nib_join(const FaultSite* site, Task* task) {
  const Rooted root(task);
  return this_thread->world->join(*task, *site);
}

Channel* nib_new_channel(const FaultSite* site, std::int64_t capacity, std::int64_t has_references) {
  World& world = *this_thread->world;
  const std::int64_t largest = world.heap().max_length(Kind::kWords) - 2;
  if (capacity < 1 || capacity > largest) fail(*site, Fault::kNoChannel, capacity, largest);
  const Channel channel{{.kind = Kind::kChannel, .references = has_references != 0}, capacity, 0, 0};
  const std::size_t size = size_of(channel.head);
  return initialised(world.allocate(*site, size), size, channel);
}

void nib_send(const FaultSite* site, Channel* channel, std::int64_t value) {
  const Rooted root(channel, reinterpret_cast<Object*>(channel->head.references != 0 ? value : 0));
  World& world = *this_thread->world;
  Lock lock(world.mutex());
  world.wait_until(lock, *site, Wait::kForRoom, [channel] { return channel->count < channel->capacity; });
  channel->values()[(channel->first + channel->count++) % channel->capacity] = value;
  world.tell_waiting();
}

std::int64_t nib_receive(const FaultSite* site, Channel* channel) {
  const Rooted root(channel);
  World& world = *this_thread->world;
  Lock lock(world.mutex());
  world.wait_until(lock, *site, Wait::kForValue, [channel] { return channel->count > 0; });
  const std::int64_t value = channel->values()[channel->first];
  channel->first = (channel->first + 1) % channel->capacity;
  --channel->count;
  world.tell_waiting();
  return value;
}

}  // namespace nib
