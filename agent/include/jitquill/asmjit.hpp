// Jitquill for runtimes that use asmjit: header-only, nothing to link beside asmjit.
//
//     jitquill::JitRuntime rt;          // was: asmjit::JitRuntime
//
// Every function that is added is announced to the agent with its name, and with its frame where that is
// known, before add() returns, and withdrawn before its memory is released. Names, lines and frames can be
// told better:
//
//     rt.add(&fn, &code, jitquill::Announcement{.name = "fib", .file = "/src/fib.nib", .first_line = 3});
//     jitquill::add_line_pass(cc);      // x86::Compiler: cc.comment("@12") gives lines
//     jitquill::add_site_pass(cc);      // and sites, by which its calls can be traced
//     jitquill::Announced<asmjit::x86::Assembler> a(&code);  // frames and a.line(12) for hand-written code
//
// Context   as asmjit: several threads may add and release, each with its own CodeHolder and emitter. The
//           emitter must still be attached when its code is added.
// Promises  without an agent, or while no output wants code, everything is asmjit's own, but for code that
//           may move. Code that cannot be described is announced with less, counted, and works.
// Does not  throw, or need exceptions or type information.
#pragma once

#if __cplusplus <= 201703L
#error "jitquill/asmjit.hpp wants C++20: -std=c++20"
#endif

#include <jitquill/asmjit/announced.hpp>
#include <jitquill/asmjit/code_plan.hpp>
#include <jitquill/asmjit/jit_memory.hpp>
#include <jitquill/asmjit/line_pass.hpp>
#include <jitquill/asmjit/live_code.hpp>
#include <jitquill/asmjit/site_pass.hpp>
#include <jitquill/asmjit/tail_pass.hpp>
#include <jitquill/asmjit/thunks.hpp>

#include <atomic>
#include <cstdio>

namespace jitquill {

// What the runtime knows about a function. All of it may be left out.
struct Announcement {
  const char* name = nullptr;    // else a named label bound at its start, else asmjit_<n>
  const char* file = nullptr;    // an absolute path lets tools show the source
  std::uint32_t first_line = 0;  // of the prolog; else the first statement's
  std::uint32_t last_line = 0;   // of the epilogs; else the last statement's
  // Inlined code: what "@line#position" refers to. Position 0 is the function's own, and what has no marker.
  const jitquill_inline_position* inline_positions = nullptr;
  std::size_t inline_position_count = 0;
  bool may_move = false;  // move_down() may be called for it; of a holder's first announcement
};

class JitRuntime : public asmjit::JitRuntime {
 public:
  explicit JitRuntime(const asmjit::JitAllocator::CreateParams* params = nullptr) noexcept
      : asmjit::JitRuntime(params) {}
  // Withdraws what is still announced, then frees all memory.
  ~JitRuntime() noexcept override {
    live_.withdraw_all();
    thunks_.forget();
  }

  using asmjit::JitRuntime::add;
  template <class Func>
  asmjit::Error add(Func* function, asmjit::CodeHolder* code, const Announcement& what) noexcept {
    return add(function, code, &what, 1);
  }
  // For a holder with several functions: one each, in the order of their addresses.
  template <class Func>
  asmjit::Error add(Func* function, asmjit::CodeHolder* code, const Announcement* each,
                    std::size_t count) noexcept {
    return add_announced(reinterpret_cast<void**>(function), code, each, count);
  }

  asmjit::Error _add(void** function, asmjit::CodeHolder* code) noexcept override {
    return add_announced(function, code, nullptr, 0);
  }
  asmjit::Error _release(void* function) noexcept override {
    live_.withdraw(function);
    return asmjit::JitRuntime::_release(function);
  }
  // Moves code that may move to lower memory, if the allocator has some that all of its targets can be
  // reached from: `function` is changed, the old memory free, and the agent knows. Nothing may run in the
  // code meanwhile, nor return into it or jump to its old place afterwards. False: it stays where it is.
  bool move_down(void** function) noexcept;

  // Withdraws everything, then frees all memory, always the hard way: asmjit 1.9 aborts in a soft reset. Not
  // virtual in asmjit: call it on this type.
  void reset(asmjit::ResetPolicy = asmjit::ResetPolicy::kHard) noexcept {
    live_.withdraw_all();
    thunks_.forget();
    asmjit::JitRuntime::reset(asmjit::ResetPolicy::kHard);
  }

  // Whether code that is added from now on is registered with the unwinders of the process, so that C++
  // exceptions and stack walks pass through it. Then frames are prepared even if no output wants code.
  void set_register_unwinding(bool on) noexcept { registers_.store(on, std::memory_order_relaxed); }
  bool register_unwinding() const noexcept { return registers_.load(std::memory_order_relaxed); }

  // How many functions were announced without unwinding, and why the last one was.
  std::uint64_t refused_count() const noexcept { return refused_count_.load(std::memory_order_relaxed); }
  Refusal last_refusal() const noexcept { return last_refusal_.load(std::memory_order_relaxed); }

 protected:
  // What the agent was told of a function, directly afterwards, inside add(): for runtimes that want names
  // and lines of their code for themselves. Pointers are good until it returns. Not called without an agent.
  virtual void on_announced(const jitquill_code&) noexcept {}
  // Of code that moves down, directly after the agent was told.
  virtual void on_moved(const void* /*from*/, const void* /*to*/) noexcept {}

 private:
  using Plan = asmjit_detail::CodePlan;
  using Piece = asmjit_detail::Piece;

  asmjit::Error add_announced(void** function, asmjit::CodeHolder* code, const Announcement* each,
                              std::size_t count) noexcept;
  // Where code lies.
  struct Placed {
    const char* base = nullptr;
    std::size_t owned = 0;     // what the allocation really occupies: whole granules
    char* writable = nullptr;  // null: nowhere, or no hooks that sites could call
  };
  asmjit::Error place(asmjit::CodeHolder& code, const Plan& plan, std::size_t room, Placed& placed) noexcept;
  bool remember(const asmjit::CodeHolder& code, const Plan& plan, const Placed& placed,
                bool may_move) noexcept;
  bool link_sites(asmjit::CodeHolder& code, const Plan& plan, const void* base, std::size_t size) noexcept;
  void announce(const Plan& plan, const Placed& placed, const Announcement* each, std::size_t count) noexcept;
  static void describe_frame(const Piece& piece, jitquill_code& out) noexcept;
  bool is_wanted() const noexcept {
    return jitquill_wants_code() != 0 ||
           (register_unwinding() && jitquill_status_text(JITQUILL_OK) != nullptr);
  }
  void refused(Refusal refusal) noexcept {
    refused_count_.fetch_add(1, std::memory_order_relaxed);
    last_refusal_.store(refusal, std::memory_order_relaxed);
  }

  asmjit_detail::LiveCode live_;
  asmjit_detail::Thunks thunks_;
  std::atomic<std::uint64_t> refused_count_{0};
  std::atomic<Refusal> last_refusal_{Refusal::kNone};
  std::atomic<bool> registers_{false};
};

namespace asmjit_detail {
inline std::atomic<std::uint32_t> unnamed_functions{0};
}

// asmjit's own _add() with room behind the code, and the news of it.
inline asmjit::Error JitRuntime::add_announced(void** function, asmjit::CodeHolder* code,
                                               const Announcement* each, std::size_t count) noexcept {
  using namespace asmjit_detail;
  const bool may_move = count != 0 && each->may_move;
  if (!is_wanted() && !may_move) return asmjit::JitRuntime::_add(function, code);
  *function = nullptr;
  asmjit::Error error = code->flatten();
  if (error == kNoError) error = resolve_links(*code);
  if (error != kNoError) return error;
  if (code->JITQUILL_ASMJIT(codeSize, code_size)() == 0) return kNoCode;

  Plan plan(*code);
  const bool known = plan.make();
  std::size_t room = 0;
  if (known) {
    jitquill_code last{};
    describe_frame(plan.pieces().back(), last);
    room = jitquill_unwinding_size(&last);
  }
  Placed placed;
  error = place(*code, plan, room, placed);
  if (error != kNoError) return error;
  *function = const_cast<char*>(placed.base);
  if (known && remember(*code, plan, placed, may_move))
    announce(plan, placed, each, count);
  else
    refused(Refusal::kNoMemory);
  return kNoError;
}

// What is withdrawn when the memory is released, and how it moves before.
inline bool JitRuntime::remember(const asmjit::CodeHolder& code, const Plan& plan, const Placed& placed,
                                 bool may_move) noexcept {
  using namespace asmjit_detail;
  Rows<std::uint64_t> starts;
  for (const Piece& piece : plan.pieces()) starts.put(piece.start);
  void* const memory = may_move ? std::malloc(sizeof(Motion)) : nullptr;
  Motion* motion = memory == nullptr ? nullptr : new (memory) Motion;
  if (motion != nullptr && !motion->read(code, plan, placed.owned, placed.writable != nullptr)) {
    motion->~Motion();
    std::free(std::exchange(motion, nullptr));
  }
  return starts.whole() && live_.put(placed.base, starts, motion);
}

inline bool JitRuntime::move_down(void** function) noexcept {
  using namespace asmjit_detail;
  LiveCode::Entry* const entry = live_.take(*function);
  if (entry == nullptr) return false;
  const char* const from = entry->base;
  const Motion* const motion = entry->motion;
  Memory memory;
  if (motion == nullptr || allocate(_allocator, motion->owned(), memory) != kNoError) {
    live_.put(entry);
    return false;
  }
  const auto* const to = static_cast<const char*>(memory.executable);
  const bool fits = to < from && motion->reaches(from, to);
  const auto copy = [&](void* bytes) -> asmjit::Error {
    std::memcpy(bytes, from, motion->size());
    motion->apply(static_cast<char*>(bytes), from, to);
    return kNoError;
  };
  if (!fits || write_by(_allocator, memory, motion->size(), copy) != kNoError) {
    _allocator.release(memory.executable);
    live_.put(entry);
    return false;
  }
  for (std::size_t i = 0; i < entry->count; ++i) {
    const std::uint64_t start = entry->starts()[i];
    const std::size_t room = i + 1 == entry->count ? motion->room() : 0;
    jitquill_code_moved_to(from + start, to + start, room, memory.rw() + start);
    on_moved(from + start, to + start);
  }
  entry->base = to;
  live_.put(entry);
  *function = memory.executable;
  _allocator.release(const_cast<char*>(from));
  return true;
}

// The frame and the size: what jitquill_unwinding_size() looks at.
inline void JitRuntime::describe_frame(const Piece& piece, jitquill_code& out) noexcept {
  out.struct_size = sizeof out;
  out.size = static_cast<std::size_t>(piece.end - piece.start);
  if (piece.known.refusal != Refusal::kNone) return;
  out.unwinding = JITQUILL_UNWINDING_FRAME_EVENTS;
  out.frame = piece.events->data() + piece.known.first_event;
  out.frame_count = piece.known.event_count;
}

// Allocates, relocates, copies. The room begins at the next multiple of 8 behind the code; it is address
// space only, so data of the same holder may lie in it.
inline asmjit::Error JitRuntime::place(asmjit::CodeHolder& code, const Plan& plan, std::size_t room,
                                       Placed& placed) noexcept {
  using namespace asmjit_detail;
  const std::size_t estimate = code.JITQUILL_ASMJIT(codeSize, code_size)();
  const std::size_t with_room =
      room == 0 ? 0 : ((static_cast<std::size_t>(plan.end()) + 7) & ~std::size_t{7}) + room;
  Memory memory;
  asmjit::Error error = allocate(_allocator, std::max(estimate, with_room), memory);
  if (error != kNoError) return error;
  error = relocate(code, memory.executable);
  const std::size_t size = code.JITQUILL_ASMJIT(codeSize, code_size)();
  std::size_t owned = std::max(size, with_room);
  const bool is_linked = error == kNoError && link_sites(code, plan, memory.executable, size);
  // The address table shrinks where a target turned out to be near.
  if (error == kNoError && owned < std::max(estimate, with_room)) error = shrink(_allocator, memory, owned);
  if (error == kNoError) error = write(_allocator, code, memory, size);
  if (error != kNoError) {
    _allocator.release(memory.executable);
    return error;
  }
  const std::size_t granule = _allocator.granularity();
  owned = (owned + granule - 1) / granule * granule;
  placed = {static_cast<const char*>(memory.executable), owned, is_linked ? memory.rw() : nullptr};
  return kNoError;
}

// Lets the calls of all sleds lead to thunks, in the holder's bytes. False: there are none to be announced.
inline bool JitRuntime::link_sites(asmjit::CodeHolder& code, const Plan& plan, const void* base,
                                   std::size_t size) noexcept {
  using namespace asmjit_detail;
  if (plan.sites().empty()) return false;
  const char* const thunks = thunks_.near(_allocator, base, size);
  if (thunks == nullptr) return false;
  for (const PlacedSite& site : plan.sites()) {
    asmjit::Section& section = section_at(code, site.offset);
    const char* const behind = static_cast<const char*>(base) + site.offset + kSledSize;
    const auto relative = static_cast<std::int32_t>(thunks + Thunks::kSpacing * site.kind - behind);
    std::uint8_t* const sled =
        section.buffer().data() + static_cast<std::size_t>(site.offset - section.offset());
    std::memcpy(sled + kSledCallAt, &relative, sizeof relative);
  }
  return true;
}

inline void JitRuntime::announce(const Plan& plan, const Placed& placed, const Announcement* each,
                                 std::size_t count) noexcept {
  using namespace asmjit_detail;
  Rows<jitquill_line> lines;
  Rows<jitquill_inline_row> inline_rows;
  Rows<jitquill_site> sites;
  std::size_t index = 0;
  for (const Piece& piece : plan.pieces()) {
    const bool told = piece.is_function && index < count;
    const Announcement what = told ? each[index] : Announcement{};
    index += piece.is_function ? 1 : 0;
    jitquill_code news{};
    describe_frame(piece, news);
    if (news.unwinding == JITQUILL_UNWINDING_UNKNOWN) refused(piece.known.refusal);
    char made[32];
    if (what.name == nullptr && piece.name == nullptr)
      std::snprintf(made, sizeof made, "asmjit_%u",
                    unnamed_functions.fetch_add(1, std::memory_order_relaxed));
    news.name = what.name != nullptr ? what.name : piece.name != nullptr ? piece.name : made;
    news.addr = placed.base + piece.start;
    news.file = what.file != nullptr ? what.file : count != 0 ? each[count - 1].file : nullptr;
    plan.lines_of(piece, what.first_line, what.last_line, lines, inline_rows);
    if (lines.whole()) {
      news.lines = lines.data();
      news.line_count = lines.size();
    }
    if (inline_rows.whole() && what.inline_position_count != 0) {
      news.inline_positions = what.inline_positions;
      news.inline_position_count = what.inline_position_count;
      news.inline_rows = inline_rows.data();
      news.inline_row_count = inline_rows.size();
    }
    news.room = piece.end == plan.end() ? placed.owned - static_cast<std::size_t>(piece.end) : 0;
    if (placed.writable != nullptr) {
      plan.sites_of(piece, sites);
      if (sites.whole() && !sites.empty()) {
        news.sites = sites.data();
        news.site_count = sites.size();
        news.writable = placed.writable + piece.start;
      }
    }
    if (register_unwinding()) news.flags |= JITQUILL_CODE_REGISTER;
    if (count != 0 && each->may_move) news.flags |= JITQUILL_CODE_MAY_MOVE;
    const jitquill_status status = jitquill_code_loaded(&news, nullptr);
    if (status == JITQUILL_UNWINDING_LEFT_OUT) refused(Refusal::kAgent);
    if (status == JITQUILL_NOT_REGISTERED) refused(Refusal::kNotRegistered);
    on_announced(news);
  }
}

}  // namespace jitquill
