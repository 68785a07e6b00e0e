#include "nib/executable.hpp"

#include <string>
#include <utility>

#include "nib/ast.hpp"
#include "nib/checker.hpp"
#include "nib/lowering.hpp"
#include "nib/parser.hpp"

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

// Null: a diagnostic says why.
void* compile_function(const Source& source, const Function& function, LoweringContext& context,
                       CodeMemory& memory, const CompileOptions& options, bool is_spawn_code,
                       Diagnostics& diagnostics) {
  FirstError error;
  asmjit::CodeHolder code;
  code.init(memory.environment());
  code.setErrorHandler(&error);
  asmjit::x86::Compiler compiler(&code);
  prepare(compiler, options.sites);
  FunctionLowering lowering(compiler, context, function);
  const asmjit::FuncNode* node = is_spawn_code ? lowering.run_spawn_code() : lowering.run();
  if (error.message().empty()) compiler.finalize();
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
  void* entry = place(memory, code,
                      {.name = (is_spawn_code ? "spawn " : "") + std::string(function.name),
                       .file = source.absolute_path,
                       .first_line = function.at.line,
                       .last_line = function.end.line});
  if (entry == nullptr) diagnostics.error(function.at, "no memory for code");
  return entry;
}

}  // namespace

Executable::~Executable() {
  for (const std::vector<void*>* table : {&spawn_table_, &table_})
    for (void* entry : *table)
      if (entry != nullptr) memory_.release(entry);
}

std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics,
                                    const CompileOptions& options) {
  Program program = parse(source, diagnostics);
  if (diagnostics.empty()) check(program, diagnostics);
  if (!diagnostics.empty()) return nullptr;
  std::unique_ptr<Executable> result(new Executable);
  result->table_.resize(program.functions.size());
  result->spawn_table_.resize(program.functions.size());
  result->main_ = program.main;
  LoweringContext context{.program = program,
                          .table = result->table_.data(),
                          .faults = result->faults_,
                          .strs = result->strs_,
                          .spawn_table = result->spawn_table_.data(),
                          .counts_sites = options.counts_sites};
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    result->table_[i] =
        compile_function(source, program.functions[i], context, result->memory_, options, false, diagnostics);
  }
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    void*& entry = result->spawn_table_[i];
    if (entry == nullptr) continue;
    entry =
        compile_function(source, program.functions[i], context, result->memory_, options, true, diagnostics);
  }
  return diagnostics.empty() ? std::move(result) : nullptr;
}

}  // namespace nib
