// Turns the tree of one function into instructions of asmjit's x86 Compiler.
//
// Context   any; one FunctionLowering per function and Compiler.
// Promises  the code follows docs/nib.md: one virtual register per variable, calls through the pointer table,
//           every run-time error and every trap of the hardware (division, stack) turned into a call of
//           nib_fail behind the function's last statement. Before the code of each statement, and of each
//           operation that stands on another line than what was emitted before it, lies a comment node
//           "@<line>": a marker for line tables that changes no code.
// Does not  finalize or place the code.
#pragma once

#include <asmjit/x86.h>

#include <array>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "nib/ast.hpp"
#include "nib/heap.hpp"
#include "nib/runtime.hpp"
#include "nib/str.hpp"
#include "nib/tier.hpp"

namespace nib {

// What jitted code keeps pointers to. By the place in the source, so that code that is made again adds
// nothing.
struct CodeData {
  std::map<std::tuple<Position, Fault, std::string_view>, FaultSite> faults;  // of a function
  std::map<const char*, StaticStr> strs;                                      // literals
  std::map<std::pair<std::uint32_t, Form>, CodePoint> points;
};

const CodePoint& point_in(CodeData& data, Executable* executable, const Program& program,
                          std::uint32_t function, Form form);

// What the functions of a program share.
struct LoweringContext {
  const Program& program;
  void* const* table;  // entry of each function, in the order of the program
  CodeData& data;
  Executable* executable;          // of which points are
  std::vector<Profile>& profiles;  // of each function
  bool counts_heat = false;        // the first tier does
  bool leaves_out = false;         // the second tier does, as the profile says
  bool inlines = false;            // the second tier does
  bool counts_sites = false;       // each new object is counted at its place
};

// A place in the source of a function's body, and the index of that of the call that was inlined there: -1,
// none.
struct InlinePosition {
  std::int32_t caller;
  std::uint32_t line;
  const Function* function;
  bool operator==(const InlinePosition&) const noexcept = default;
};

class FunctionLowering {
 public:
  FunctionLowering(asmjit::x86::Compiler& compiler, LoweringContext& context, const Function& function,
                   Form form);
  asmjit::FuncNode* run();
  // What the markers "@line#position" name; empty where nothing was inlined.
  std::span<const InlinePosition> positions() const noexcept;

 private:
  using Gp = asmjit::x86::Gp;
  using Xmm = asmjit::x86::Xmm;
  using Reg = asmjit::x86::Reg;  // a Gp, or an Xmm of a float
  using Label = asmjit::Label;

  // A constant, a variable's own register (never to be changed here), or a temporary, free to be reused.
  // Nothing can change a variable while an expression is evaluated, so its register needs no copy.
  struct Value {
    enum class Kind : std::uint8_t { kConstant, kVariable, kTemporary } kind;
    std::int64_t constant = 0;  // of a float: its bits
    Reg reg{};
    bool is_float = false;
    const Gp& gp() const noexcept { return reg.as<Gp>(); }
    bool is_constant() const noexcept { return kind == Kind::kConstant; }
    bool is_in(const Reg& other) const noexcept { return !is_constant() && reg.id() == other.id(); }
  };
  struct Loop {
    Label next;  // where the condition is tested
    Label end;
  };

  asmjit::FuncNode* run_spawn_code();
  asmjit::FuncNode* begin();

  // ---- Statements (lowering.cpp; of elements and fields: lower_object.cpp) ----
  void poll(const FaultSite* site, std::uint32_t line);
  void assign(std::uint32_t variable, const Expression& expression);
  void block(const Block& block);
  void statement(const Block& node);
  void statement(const Declaration& node);
  void statement(const Assignment& node);
  void statement(const PlaceAssignment& node);
  void statement(const CallStatement& node);
  void statement(const Print& node);
  void statement(const If& node);
  void statement(const While& node);
  void statement(const Return& node);
  void statement(const Fail& node);
  void statement(const Break& node);
  void statement(const Continue& node);

  // ---- Tiers (lower_tier.cpp) ----
  bool counts_heat() const noexcept;
  bool can_transfer() const noexcept { return scope_.size() <= ThreadWords::kMostPassed; }
  void count(std::uint32_t block);
  void transfer(std::uint32_t block, Tier tier, const Label& back);
  asmjit::x86::Mem passed(std::size_t index);
  void take_passed();
  bool is_left_out(const Block& block) const noexcept;
  Label left_out(const Block& block);
  void run_block_of_if(const Block& block);
  const CodePoint& point(std::uint32_t function, Form form);

  // ---- Inlining (lower_inline.cpp) ----
  bool is_inlined(const Call& node) const noexcept;
  Value inlined(const Call& node, Position at, const Reg& wanted);
  void bind_parameters(const Function& callee, std::span<const Value> arguments);
  void leave_inlined(const Return& node);
  std::size_t position_at(std::uint32_t line);
  bool has_known_length(const Variable& variable) const noexcept;
  void know_length(const Reg& array, const Variable& variable);

  // ---- References that the collector must find (lower_frame.cpp) ----
  asmjit::x86::Mem thread_word(std::size_t offset) const;
  asmjit::x86::Mem thread_word_by_register(std::size_t offset);
  asmjit::x86::Mem frame_word(std::size_t index) const;
  // Functions that neither call nor loop need no frame; as they cannot recurse, no look at the stack either.
  bool has_frame() const noexcept { return root_.has_references && root_.may_collect; }
  void enter_frame();
  bool is_held_at_entry(std::uint32_t slot, Reg& reg) const;
  void leave_frame();
  std::uint32_t new_slot();
  // `value` stays as it is while something is evaluated that may collect.
  Value held(const Value& value, Type type, bool while_collecting);

  // ---- Expressions (lower_expression.cpp) ----
  // `wanted`, when valid, is where the result would best be; it need not end there.
  Value value(const Expression& expression, const Reg& wanted = Reg());
  Value value_of(const IntLiteral& node, Position at, const Reg& wanted);
  Value value_of(const BoolLiteral& node, Position at, const Reg& wanted);
  Value value_of(const FloatLiteral& node, Position at, const Reg& wanted);
  Value value_of(const StrLiteral& node, Position at, const Reg& wanted);
  Value value_of(const NullLiteral& node, Position at, const Reg& wanted);
  Value value_of(const VariableUse& node, Position at, const Reg& wanted);
  Value value_of(const Unary& node, Position at, const Reg& wanted);
  Value value_of(const Binary& node, Position at, const Reg& wanted);
  Value value_of(const Call& node, Position at, const Reg& wanted);
  Value truth_of(const Expression& expression);
  void value_to(const Expression& expression, const Reg& target);
  Value result_of(asmjit::InvokeNode* call, Type type, const Reg& wanted);
  // A continuation takes no arguments.
  static asmjit::FuncSignatureBuilder signature_of(const Function& function, bool is_whole = true);
  std::uint32_t index_of(const Function& function) const noexcept {
    return static_cast<std::uint32_t>(&function - context_.program.functions.data());
  }
  void make_passable(std::span<Value> arguments);
  void set_arguments(asmjit::InvokeNode* call, std::span<const Value> arguments);
  // The call of a function that keeps all registers: else each variable of a loop would live in memory for
  // it.
  static void keep_registers(asmjit::InvokeNode* call);
  // Calls a function of runtime.hpp.
  template <class R, class... A>
  asmjit::InvokeNode* call_runtime(R (*function)(A...), std::array<Value, sizeof...(A)> arguments);
  asmjit::InvokeNode* invoke(const Call& node, Position at, bool is_last = false);
  asmjit::InvokeNode* invoke(std::uint32_t function);
  // From left to right; references stay known, as far as a later one or, with `then_collects`, the use may
  // collect.
  std::vector<Value> values_of(const std::vector<ExpressionPtr>& nodes, bool then_collects);
  void branch(const Expression& condition, bool on, const Label& target);
  asmjit::x86::CondCode compare(const Binary& node, Position at);

  // ---- Arrays, strs and records (lower_object.cpp) ----
  Value value_of(const Index& node, Position at, const Reg& wanted);
  Value value_of(const FieldUse& node, Position at, const Reg& wanted);
  Value value_of(const BuiltinCall& node, Position at, const Reg& wanted);
  Value new_array(const BuiltinCall& node, Position at, const Reg& wanted);
  Value new_record(const Call& node, Position at);
  Gp new_object(std::int64_t header, Position at);
  asmjit::InvokeNode* to_str(const Value& value, Type type, Position at);
  Value length_of(const BuiltinCall& node, Position at, const Reg& wanted);
  asmjit::x86::Mem element(const Value& array, const Value& index, Type type, Position at);
  asmjit::x86::Mem field(const Value& record, const FieldUse& use, Position at);
  Value load(const asmjit::x86::Mem& from, Type type, const Reg& wanted);
  void store(const asmjit::x86::Mem& to, const Value& value);

  // ---- Threads (lower_thread.cpp) ----
  Value value_of(const Spawn& node, Position at, const Reg& wanted);
  Value value_of(const NewChannel& node, Position at, const Reg& wanted);
  Value send(const BuiltinCall& node, const std::vector<Value>& values, Position at);
  // Channels and tasks hold floats by their bits.
  Value bits_of(const Value& value);
  Value of_bits(asmjit::InvokeNode* call, Type type, const Reg& wanted);

  // ---- Floats (lower_float.cpp) ----
  Value combine_floats(BinaryOperator op, const Value& left, const Value& right, const Reg& wanted);
  Value square_root(const Value& operand, const Reg& wanted);
  Value negated_float(const Value& operand);
  Value to_float(const Value& operand, const Reg& wanted);
  Value to_int(const Value& operand, Position at, const Reg& wanted);
  void branch_on_floats(const Binary& node, Position at, bool on, const Label& target);
  void move_float(const Xmm& target, const Value& value);
  Xmm in_xmm(const Value& value);
  // Calls `with` with an operand for `value`: memory if it is a constant, else a register.
  template <class F>
  void with_float(const Value& value, F with);

  // ---- Arithmetic (lower_arithmetic.cpp) ----
  Value combine(BinaryOperator op, Value left, Value right, Position at, const Reg& wanted);
  // target = left op right, by the one instruction that is the operator.
  void apply(BinaryOperator op, const Value& left, const Value& right, const Gp& target);
  Value checked(BinaryOperator op, const Value& left, const Value& right, const Gp& target, Position at);
  Value wrapping_add(const Value& left, const Value& right, const Gp& target);
  Value wrapping_multiply(const Value& left, const Value& right, const Gp& target);
  Value shift(BinaryOperator op, const Value& left, const Value& right, const Gp& target);
  Value divide(BinaryOperator op, const Value& left, const Value& right, Position at);
  Value divide_by_power(BinaryOperator op, const Value& left, int power);
  Gp target_for(const Value& left, const Value& right, const Reg& wanted);
  Gp in_register(const Value& value);
  void move(const Reg& target, const Value& value);
  Reg new_register(Type type);
  // Calls `with` with an operand for `value`: an immediate if it fits, else a register.
  template <class F>
  void with_operand(const Value& value, F with);

  Value temporary(const Reg& reg) const {
    return {.kind = Value::Kind::kTemporary, .reg = reg, .is_float = reg.isXmm()};
  }
  Value constant(const FaultSite& site) const { return constant(reinterpret_cast<std::int64_t>(&site)); }
  Value constant(std::int64_t number) const { return {.kind = Value::Kind::kConstant, .constant = number}; }
  bool fits_immediate(const Value& value) const noexcept;

  void mark(std::uint32_t line);
  void mark_if_new(std::uint32_t line);
  const FaultSite& fault_site(Fault kind, Position at, std::string_view text = {});
  // Where to jump when it has happened. What `values` are, nib_fail_with() says.
  struct FaultValues {
    Gp first;
    Gp second;
  };
  Label fault(const FaultSite& site, std::optional<FaultValues> values = std::nullopt);
  Label fault(Fault kind, Position at) { return fault(fault_site(kind, at)); }
  // Code that is rarely run goes behind the function's last statement.
  void later(std::function<void()> emit) {
    later_.push_back({inlining_.function, inlining_.caller, std::move(emit)});
  }

  // The body that is being lowered: the function's own, or one that is inlined in it.
  struct Inlining {
    const Function* function;
    std::int32_t caller = -1;  // index of the call's position
    std::vector<Reg> variables{};
    std::vector<std::uint32_t> slots{};  // of each variable: its place in the frame
    std::vector<Loop> loops{};
    const Inlining* outer = nullptr;
    Label end{};  // of an inlined body, as the next
    Reg result{};
  };
  struct Later {
    const Function* function;
    std::int32_t caller;
    std::function<void()> emit;
  };

  asmjit::x86::Compiler& cc_;
  LoweringContext& context_;
  const Function& root_;  // whose code this is
  const Form form_;
  Inlining inlining_;
  std::uint32_t inlined_size_ = 0;
  std::vector<InlinePosition> positions_;
  std::map<std::uint32_t, Gp> lengths_;     // of arrays that stay in their register, by its id
  std::vector<std::uint32_t> scope_;        // variables that have a value
  std::vector<std::uint32_t> entry_scope_;  // at the function's entry
  Label resume_;                            // of a continuation: its block
  bool is_hot_ = false;                     // the code that is being lowered has run often
  std::uint32_t slot_count_ = 0;
  std::uint32_t used_slots_ = 0;  // those of variables, and of what the statement holds
  asmjit::x86::Mem frame_{};
  asmjit::BaseNode* entry_ = nullptr;
  Gp site_register_;  // one for all: asmjit's time grows with the square of the registers
  std::vector<Later> later_;
  std::uint32_t line_ = 0;  // of the last marker
};

template <class F>
void FunctionLowering::with_operand(const Value& value, F with) {
  if (fits_immediate(value)) {
    with(asmjit::imm(value.constant));
  } else {
    with(in_register(value));
  }
}

template <class F>
void FunctionLowering::with_float(const Value& value, F with) {
  if (value.is_constant()) {
    with(cc_.newDoubleConst(asmjit::ConstPoolScope::kLocal, std::bit_cast<double>(value.constant)));
  } else {
    with(value.reg.as<Xmm>());
  }
}

template <class R, class... A>
asmjit::InvokeNode* FunctionLowering::call_runtime(R (*function)(A...),
                                                   std::array<Value, sizeof...(A)> arguments) {
  make_passable(arguments);
  asmjit::InvokeNode* call = nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(function);
  cc_.invoke(&call, asmjit::imm(address), asmjit::FuncSignatureT<R, A...>());
  set_arguments(call, arguments);
  return call;
}

}  // namespace nib
