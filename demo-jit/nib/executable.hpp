// A program that was compiled, and the front door of nib.
//
// Context   any; an Executable may be run by several threads at once.
// Promises  compile() gives either an Executable or at least one diagnostic. Code that is replaced stays
//           placed as long as the Executable lives, since it may still run. The Source must outlive it: names
//           point into its text.
// Does not  run anything; see run() in runtime.hpp.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "nib/ast.hpp"
#include "nib/code_memory.hpp"
#include "nib/lowering.hpp"
#include "nib/source.hpp"
#include "nib/tier.hpp"

namespace nib {

enum class Tiers : std::uint8_t { kBoth, kFirst, kSecond };

struct CompileOptions {
  SitePolicy sites = SitePolicy::kWhenWanted;  // whether calls of the functions can be traced
  bool counts_sites = false;                   // FaultSite says what was made where, if the run counts too
  Tiers tiers = Tiers::kBoth;
  std::int32_t hot = 5000;  // calls and loop turns of a function in the first tier before there is a second
  // Bytes of code, 0: no limit. Else functions are compiled when they are first called, and what is cold
  // goes. Then one run at a time.
  std::size_t code_limit = 0;
};

class Executable {
 public:
  using Main = void (*)();

  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  Main main() const noexcept { return reinterpret_cast<Main>(table_[program_.main]); }
  // For stack traces; empty without an agent.
  const CodeTable& code_table() const noexcept { return memory_.table(); }
  // Where objects are made, among others.
  const auto& sites() const noexcept { return data_.faults; }

  // In which a function exists now.
  std::vector<Form> forms_of(std::string_view function) const;

  const Program& program() const noexcept { return program_; }
  std::size_t code_size() const noexcept { return memory_.used(); }

  // ---- For jitted code ----
  // Null: there is none, and none can be made. Of the second tier's begin always.
  void* code_at(const CodePoint& point);
  // For a call of a function that may have no code.
  const CodePoint& point_of(std::uint32_t function);

  // ---- The code cache (code_cache.cpp) ----
  using Visit = std::function<void(std::uintptr_t)>;
  bool is_full() const noexcept {
    const std::size_t limit = code_limit_;
    return has_grown_ && limit != 0 && memory_.used() > limit;
  }
  // That of the options, doubled as often as it was too small for what runs.
  std::size_t code_limit() const noexcept { return code_limit_; }
  // While nothing runs: unloads what was not called lately, moves what stays to lower memory. `visit_stacks`
  // shows all words that may be return addresses: such code stays where it is, and so does `kept`.
  void make_room(const void* kept, const std::function<void(const Visit&)>& visit_stacks);

 private:
  friend std::unique_ptr<Executable> compile(const Source&, Diagnostics&, const CompileOptions&);
  Executable(const Source& source, Program program, const CompileOptions& options);

  using Unit = std::pair<std::uint32_t, Form>;  // of which function what
  struct Code {
    void* entry = nullptr;
    bool is_used = true;  // since room was made
    bool is_pinned = false;
  };

  void* placed(Unit unit, Diagnostics& diagnostics);
  void* compiled(Unit unit, Diagnostics& diagnostics);
  void* compiled(Unit unit, asmjit::RegMask dirty, asmjit::RegMask& unsaved, Diagnostics& diagnostics);
  CodeOrigin origin_of(Unit unit, const FunctionLowering& lowering) const;
  void* heat(std::uint32_t function, std::uint32_t block);
  void* cool(std::uint32_t function, std::uint32_t block);
  void lead_to(std::uint32_t function, void* code);
  void* best(std::uint32_t function);
  bool make_stubs(Diagnostics& diagnostics);
  void pin(const void* kept, const std::function<void(const Visit&)>& visit_stacks);
  void unload(bool used_too, std::size_t goal);
  void note_compiled(std::uint32_t function);
  void unlink_all();
  void pack();

  const Source& source_;
  const Program program_;
  const CompileOptions options_;
  mutable std::mutex mutex_;
  CodeMemory memory_;
  std::vector<void*> table_;  // entry of each function; jitted calls load from here
  std::vector<Profile> profiles_;
  std::vector<std::uint32_t> times_hot_;
  CodeData data_;
  std::map<Unit, Code> units_;
  std::vector<Code> replaced_;  // may still run
  char* stubs_ = nullptr;       // with a limit: what functions without code lead to
  Unit hand_{};                 // where unloading goes on
  std::atomic<std::size_t> code_limit_;
  std::vector<std::uint32_t> times_compiled_;  // each function, since the limit is what it is
  std::atomic<bool> has_grown_ = false;        // since room was made
};

std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics,
                                    const CompileOptions& options = {});

}  // namespace nib
