#include "nib/executable.hpp"

#include <atomic>
#include <string>

#include "nib/checker.hpp"
#include "nib/parser.hpp"
#include "nib/unsaved_pass.hpp"

namespace nib {
namespace {

// Keeps the first error. Emitting goes on after one, which is harmless: the code is thrown away.
class FirstError : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error, const char* message, asmjit::BaseEmitter*) override {
    if (message_.empty()) message_ = message;
  }
  const std::string& message() const noexcept { return message_; }

 private:
  std::string message_;
};

}  // namespace

Executable::Executable(const Source& source, Program program, const CompileOptions& options)
    : source_(source),
      program_(std::move(program)),
      options_(options),
      table_(program_.functions.size()),
      times_hot_(program_.functions.size()),
      code_limit_(options.code_limit),
      times_compiled_(program_.functions.size()) {
  for (const Function& each : program_.functions)
    profiles_.push_back({.heat = options_.hot, .has_run = std::vector<std::uint8_t>(each.blocks)});
}

Executable::~Executable() {
  for (const auto& [unit, code] : units_) memory_.release(code.entry);
  for (const Code& each : replaced_) memory_.release(each.entry);
  if (stubs_ != nullptr) memory_.release(stubs_);
}

// ---- Compiling ----

void* Executable::placed(Unit unit, Diagnostics& diagnostics) {
  Code& code = units_[unit];
  if (code.entry == nullptr) {
    code.entry = compiled(unit, diagnostics);
    note_compiled(unit.first);
  }
  code.is_used = true;
  void* const entry = code.entry;
  if (entry == nullptr) units_.erase(unit);
  return entry;
}

void* Executable::compiled(Unit unit, Diagnostics& diagnostics) {
  asmjit::RegMask dirty = 0;
  while (true) {
    asmjit::RegMask unsaved = 0;
    void* const entry = compiled(unit, dirty, unsaved, diagnostics);
    if (unsaved == 0) return entry;
    dirty |= unsaved;
  }
}

// With `unsaved` afterwards (unsaved_pass.hpp) nothing was placed.
void* Executable::compiled(Unit unit, asmjit::RegMask dirty, asmjit::RegMask& unsaved,
                           Diagnostics& diagnostics) {
  const Function& function = program_.functions[unit.first];
  const bool is_second = unit.second.tier == Tier::kSecond;
  LoweringContext context{.program = program_,
                          .table = table_.data(),
                          .data = data_,
                          .executable = this,
                          .profiles = profiles_,
                          .counts_heat = options_.tiers == Tiers::kBoth,
                          .leaves_out = options_.tiers == Tiers::kBoth,
                          .inlines = is_second && !has_sites(options_.sites),
                          .counts_sites = options_.counts_sites};
  FirstError error;
  asmjit::CodeHolder code;
  code.init(memory_.environment());
  code.setErrorHandler(&error);
  asmjit::x86::Compiler compiler(&code);
  compiler.addPassT<UnsavedPass>(unsaved);
  prepare(compiler, options_.sites);
  FunctionLowering lowering(compiler, context, function, unit.second);
  asmjit::FuncNode* const node = lowering.run();
  if (error.message().empty()) {
    node->frame().addDirtyRegs(asmjit::RegGroup::kGp, dirty);
    compiler.finalize();
  }
  if (!error.message().empty()) {
    diagnostics.error(function.at, "cannot compile '" + std::string(function.name) + "': " + error.message());
    return nullptr;
  }
  // The room below the stack limit is made for frames up to this size.
  if (node->frame().finalStackSize() > kMaxFrameSize) {
    diagnostics.error(function.at,
                      "function '" + std::string(function.name) + "' needs too large a stack frame");
    return nullptr;
  }
  if (unsaved != 0) return nullptr;
  void* const entry = place(memory_, code, origin_of(unit, lowering));
  has_grown_ = true;
  if (entry == nullptr) diagnostics.error(function.at, "no memory for code");
  return entry;
}

CodeOrigin Executable::origin_of(Unit unit, const FunctionLowering& lowering) const {
  const Function& function = program_.functions[unit.first];
  const bool is_spawn = unit.second.entry == Form::Entry::kSpawn;
  CodeOrigin origin{.name = (is_spawn ? "spawn " : "") + std::string(function.name),
                    .file = source_.absolute_path,
                    .first_line = function.at.line,
                    .last_line = function.end.line,
                    .may_move = options_.code_limit != 0,
                    .inlined = {},
                    .names = {}};
  for (const InlinePosition& each : lowering.positions()) {
    origin.names.emplace_back(each.function->name);
    origin.inlined.push_back({.caller = each.caller,
                              .line = each.line,
                              .column = 0,
                              .function_line = each.function->at.line,
                              .function_column = each.function->at.column,
                              .reserved = 0,
                              .function = origin.names.back().c_str(),
                              .file = source_.absolute_path.c_str()});
  }
  return origin;
}

std::vector<Form> Executable::forms_of(std::string_view function) const {
  const std::lock_guard guard(mutex_);
  std::vector<Form> forms;
  for (const auto& [unit, code] : units_)
    if (program_.functions[unit.first].name == function) forms.push_back(unit.second);
  return forms;
}

// ---- Tiers ----

void* Executable::code_at(const CodePoint& point) {
  const std::lock_guard guard(mutex_);
  Diagnostics unheard;
  if (point.form.entry == Form::Entry::kSpawn) return placed({point.function, point.form}, unheard);
  if (point.form.entry == Form::Entry::kWhole && point.form.tier == Tier::kFirst) return best(point.function);
  return point.form.tier == Tier::kSecond ? heat(point.function, point.form.block)
                                          : cool(point.function, point.form.block);
}

void* Executable::best(std::uint32_t function) {
  Diagnostics unheard;
  const bool has_second = units_.contains({function, {.tier = Tier::kSecond}});
  const Tier tier = has_second || options_.tiers == Tiers::kSecond ? Tier::kSecond : Tier::kFirst;
  void* const code = placed({function, {.tier = tier}}, unheard);
  lead_to(function, code);
  return code;
}

const CodePoint& Executable::point_of(std::uint32_t function) {
  const std::lock_guard guard(mutex_);
  return point_in(data_, this, program_, function, {});
}

// Other threads call through the table meanwhile.
void Executable::lead_to(std::uint32_t function, void* code) {
  if (code != nullptr) std::atomic_ref(table_[function]).store(code, std::memory_order_release);
}

// A loop that turns is left for the second tier at once; calls find it in the table, of a function that was
// hot once more.
void* Executable::heat(std::uint32_t function, std::uint32_t block) {
  Diagnostics unheard;
  profiles_[function].heat = options_.hot;
  if (++times_hot_[function] > 1 || block == 0)
    lead_to(function, placed({function, {.tier = Tier::kSecond}}, unheard));
  if (block == 0) return nullptr;
  return placed({function, {.entry = Form::Entry::kBlock, .tier = Tier::kSecond, .block = block}}, unheard);
}

// The block was left out, and has come to run: what was made without it is made anew when it is hot again.
void* Executable::cool(std::uint32_t function, std::uint32_t block) {
  Diagnostics unheard;
  Profile& profile = profiles_[function];
  profile.has_run[block] = 1;
  profile.heat = options_.hot;
  lead_to(function, placed({function, {}}, unheard));
  for (auto each = units_.lower_bound({function, {}});
       each != units_.end() && each->first.first == function;) {
    const bool is_stale = each->first.second.tier == Tier::kSecond;
    if (is_stale) replaced_.push_back(each->second);
    each = is_stale ? units_.erase(each) : std::next(each);
  }
  return placed({function, {.entry = Form::Entry::kBlock, .block = block}}, unheard);
}

std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics,
                                    const CompileOptions& options) {
  Program program = parse(source, diagnostics);
  if (diagnostics.empty()) check(program, diagnostics);
  if (!diagnostics.empty()) return nullptr;
  std::unique_ptr<Executable> result(new Executable(source, std::move(program), options));
  if (options.code_limit != 0) return result->make_stubs(diagnostics) ? std::move(result) : nullptr;
  const Tier tier = options.tiers == Tiers::kSecond ? Tier::kSecond : Tier::kFirst;
  for (std::uint32_t i = 0; i < result->table_.size(); ++i)
    result->table_[i] = result->placed({i, {.tier = tier}}, diagnostics);
  return diagnostics.empty() ? std::move(result) : nullptr;
}

}  // namespace nib
