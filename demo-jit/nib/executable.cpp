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
                       CodeMemory& memory, SitePolicy sites, Diagnostics& diagnostics) {
  FirstError error;
  asmjit::CodeHolder code;
  code.init(memory.environment());
  code.setErrorHandler(&error);
  asmjit::x86::Compiler compiler(&code);
  prepare(compiler, sites);
  const asmjit::FuncNode* node = FunctionLowering(compiler, context, function).run();
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
                      {.name = std::string(function.name),
                       .file = source.absolute_path,
                       .first_line = function.at.line,
                       .last_line = function.end.line});
  if (entry == nullptr) diagnostics.error(function.at, "no memory for code");
  return entry;
}

}  // namespace

Executable::~Executable() {
  for (void* entry : table_) {
    if (entry != nullptr) memory_.release(entry);
  }
}

std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics, SitePolicy sites) {
  Program program = parse(source, diagnostics);
  if (diagnostics.empty()) check(program, diagnostics);
  if (!diagnostics.empty()) return nullptr;
  std::unique_ptr<Executable> result(new Executable);
  result->table_.resize(program.functions.size());
  result->main_ = program.main;
  LoweringContext context{
      .program = program, .table = result->table_.data(), .faults = result->faults_, .strs = result->strs_};
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    result->table_[i] =
        compile_function(source, program.functions[i], context, result->memory_, sites, diagnostics);
  }
  return diagnostics.empty() ? std::move(result) : nullptr;
}

}  // namespace nib
