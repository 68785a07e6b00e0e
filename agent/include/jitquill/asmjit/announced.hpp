// Announced<E>: an Assembler or Builder that also notes frames, lines and function starts for JitRuntime, and
// puts sites into prologs and epilogs.
//
// Use it in place of E and keep it attached until the code is added. Frames come from watching the
// instructions themselves, so emitProlog()/emitEpilog() and hand-written push, pop, sub, leave are all
// followed. A Builder is watched while finalize() turns it into bytes.
//
// Context   as E: one thread at a time.
// Promises  the bytes are those that E would have made, sites aside.
// Does not  work with x86::Compiler, and need not: JitRuntime reads a plain one, with add_line_pass() for
//           lines.
#pragma once

#include <jitquill/asmjit/emitter_notes.hpp>

#include <utility>

namespace jitquill {
namespace asmjit_detail {

// An Assembler whose instructions and labels go through the notes.
class WatchedAssembler : public asmjit::x86::Assembler {
 public:
  explicit WatchedAssembler(asmjit::CodeHolder* code, EmitterNotes* notes) noexcept
      : asmjit::x86::Assembler(code), notes_(notes) {}

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                      const asmjit::Operand_& o2, const asmjit::Operand_* more) override {
    const std::size_t start = offset();
    const asmjit::Error error = asmjit::x86::Assembler::_emit(id, o0, o1, o2, more);
    if (error == kNoError) watch(id, {o0, o1, o2}, start);
    return error;
  }

  asmjit::Error bind(const asmjit::Label& label) override {
    const asmjit::Error error = asmjit::x86::Assembler::bind(label);
    if (error == kNoError && in_function()) notes_->bound(label.id(), static_cast<std::uint32_t>(offset()));
    return error;
  }

 protected:
  void watch(asmjit::InstId id, const asmjit::Operand_ (&operands)[3], std::size_t start) noexcept {
    if (!in_function()) return;
    std::uint32_t count = 0;
    while (count < 3 && !operands[count].JITQUILL_ASMJIT(isNone, is_none)()) ++count;
    const std::size_t end = offset();
    notes_->tracker.instruction(
        {id, operands, count, static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)});
  }
  // A function lies in one section; what is emitted elsewhere has no known frame.
  bool in_function() noexcept {
    asmjit::Section* here = JITQUILL_ASMJIT(currentSection, current_section)();
    if (notes_->section == nullptr) notes_->section = here;
    if (notes_->section == here) return true;
    notes_->tracker.events().refuse(Refusal::kRewritten);
    return false;
  }
  EmitterNotes* notes_;
};

// The notes come before the emitter, which may call back while it is constructed.
struct NotesHolder {
  EmitterNotes held_notes_;
};

// What Announced adds to an emitter: marks, and hooks at prologs and epilogs.
template <class Base, class Self>
class Marking : public Base {
 public:
  template <class... Args>
  explicit Marking(asmjit::CodeHolder* code, Args&&... args) : Base(code, std::forward<Args>(args)...) {
    if (code != nullptr) install();
  }

  // The code from here on comes from this line.
  asmjit::Error line(std::uint32_t number, std::uint32_t column = 0) {
    const asmjit::Label here = new_mark();
    if (!self().notes().lines.put({here.id(), number, column})) return kOutOfMemory;
    return this->bind(here);
  }
  // A function begins here. Needed only for a second function that does not begin with emitProlog().
  asmjit::Error begin_function() { return mark_start({0, true, {}}); }
  // emitEpilog() without its ret: a jump to another function comes next.
  asmjit::Error emit_tail_epilog(const asmjit::FuncFrame& frame) {
    drops_return_ = true;
    const asmjit::Error error = JITQUILL_ASMJIT(this->emitEpilog, this->emit_epilog)(frame);
    drops_return_ = false;
    return error;
  }

  // Sites are put where emitProlog(), emitEpilog() and emit_tail_epilog() are called from now on.
  void set_site_policy(SitePolicy policy) noexcept { policy_ = policy; }

  asmjit::Error _emit(asmjit::InstId id, const asmjit::Operand_& o0, const asmjit::Operand_& o1,
                      const asmjit::Operand_& o2, const asmjit::Operand_* more) override {
    if (in_epilog_ && id == Inst::kIdRet) {
      const asmjit::Error error = put_site(drops_return_ ? JITQUILL_SITE_TAIL : JITQUILL_SITE_LEAVE);
      if (drops_return_ || error != kNoError) return error;
    }
    return Base::_emit(id, o0, o1, o2, more);
  }

  asmjit::Error JITQUILL_ASMJIT(onAttach, on_attach)(HolderArgument code) noexcept override {
    const asmjit::Error error = Base::JITQUILL_ASMJIT(onAttach, on_attach)(code);
    self().notes().clear();
    has_sites_ = false;
    install();
    return error;
  }

  // How the runtime knows an emitter without type information: nobody else has this hook.
  static bool is(const asmjit::BaseEmitter& emitter) noexcept {
    return emitter._funcs.JITQUILL_ASMJIT(emitProlog, emit_prolog) == &on_prolog;
  }

 private:
  using Functions = asmjit::BaseEmitter::Funcs;

  Self& self() noexcept { return static_cast<Self&>(*this); }
  asmjit::Label new_mark() { return this->JITQUILL_ASMJIT(newLabel, new_label)(); }

  // In asmjit 1.9 the table is filled by the constructor, later by attaching.
  void install() noexcept {
    if (is(*this)) return;
    originals_ = this->_funcs;
    this->_funcs.JITQUILL_ASMJIT(emitProlog, emit_prolog) = &on_prolog;
    this->_funcs.JITQUILL_ASMJIT(emitEpilog, emit_epilog) = &on_epilog;
  }
  asmjit::Error mark_start(StartMark mark) {
    const asmjit::Label here = new_mark();
    mark.label = here.id();
    if (!self().notes().starts.put(mark)) return kOutOfMemory;
    return this->bind(here);
  }
  asmjit::Error put_site(std::uint8_t kind) {
    if (!has_sites_) return kNoError;
    SiteMark mark{};
    const asmjit::Error error = emit_sled(*this, kind, mark);
    return error != kNoError || self().notes().sites.put(mark) ? error : kOutOfMemory;
  }
  static asmjit::Error ASMJIT_CDECL on_prolog(asmjit::BaseEmitter* emitter, const asmjit::FuncFrame& frame) {
    auto* self = static_cast<Marking*>(emitter);
    // Code of this kind is seen to its end, so rbp is followed whatever the frame promises of it.
    asmjit::Error error = self->mark_start({0, false, {preserved_by(frame), true}});
    self->has_sites_ = wants_sites(self->policy_);
    if (error == kNoError) error = self->put_site(JITQUILL_SITE_ENTER);
    if (error != kNoError) return error;
    return self->originals_.JITQUILL_ASMJIT(emitProlog, emit_prolog)(emitter, frame);
  }
  static asmjit::Error ASMJIT_CDECL on_epilog(asmjit::BaseEmitter* emitter, const asmjit::FuncFrame& frame) {
    auto* self = static_cast<Marking*>(emitter);
    const asmjit::Label begin = self->new_mark(), end = self->new_mark();
    if (!self->self().notes().epilogs.put({begin.id(), end.id()})) return kOutOfMemory;
    asmjit::Error error = self->bind(begin);
    self->in_epilog_ = true;
    if (error == kNoError) error = self->originals_.JITQUILL_ASMJIT(emitEpilog, emit_epilog)(emitter, frame);
    self->in_epilog_ = false;
    return error == kNoError ? self->bind(end) : error;
  }

  Functions originals_{};
  bool drops_return_ = false;
  bool in_epilog_ = false;
  bool has_sites_ = false;  // the function under way
  SitePolicy policy_ = SitePolicy::kWhenWanted;
};

}  // namespace asmjit_detail

template <class E>
struct Announced;

template <>
struct Announced<asmjit::x86::Assembler> final
    : private asmjit_detail::NotesHolder,
      public asmjit_detail::Marking<asmjit_detail::WatchedAssembler, Announced<asmjit::x86::Assembler>> {
  explicit Announced(asmjit::CodeHolder* code = nullptr) : Marking(code, &held_notes_) {}
  asmjit_detail::EmitterNotes& notes() noexcept { return held_notes_; }
};

template <>
struct Announced<asmjit::x86::Builder> final
    : private asmjit_detail::NotesHolder,
      public asmjit_detail::Marking<asmjit::x86::Builder, Announced<asmjit::x86::Builder>> {
  explicit Announced(asmjit::CodeHolder* code = nullptr) : Marking(code) {}
  asmjit_detail::EmitterNotes& notes() noexcept { return held_notes_; }

  // As Builder::finalize(), through an assembler that is watched.
  asmjit::Error finalize() override {
    const asmjit::Error error = JITQUILL_ASMJIT(runPasses, run_passes)();
    if (error != asmjit_detail::kNoError) return error;
    asmjit_detail::WatchedAssembler assembler(code(), &held_notes_);
    assembler.JITQUILL_ASMJIT(addEncodingOptions,
                              add_encoding_options)(JITQUILL_ASMJIT(encodingOptions, encoding_options)());
    assembler.JITQUILL_ASMJIT(addDiagnosticOptions, add_diagnostic_options)(
        JITQUILL_ASMJIT(diagnosticOptions, diagnostic_options)());
    return JITQUILL_ASMJIT(serializeTo, serialize_to)(&assembler);
  }
};

}  // namespace jitquill
