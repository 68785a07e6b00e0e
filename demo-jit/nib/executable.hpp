// From a source to code that can be run: the front door of nib.
//
// Context   any; an Executable may be run by several threads at once.
// Promises  compile() gives either an Executable or at least one diagnostic. Code stays placed as long as the
//           Executable lives. The Source must outlive it: names point into its text.
// Does not  run anything; see run() in runtime.hpp.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "nib/code_memory.hpp"
#include "nib/runtime.hpp"
#include "nib/source.hpp"
#include "nib/str.hpp"

namespace nib {

struct CompileOptions {
  SitePolicy sites = SitePolicy::kWhenWanted;  // whether calls of the functions can be traced
  bool counts_sites = false;                   // FaultSite says what was made where, if the run counts too
};

class Executable {
 public:
  using Main = void (*)();

  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  Main main() const noexcept { return reinterpret_cast<Main>(table_[main_]); }
  // For stack traces; empty without an agent.
  const CodeTable& code_table() const noexcept { return memory_.table(); }
  // Where objects are made, among others.
  const std::deque<FaultSite>& sites() const noexcept { return faults_; }

 private:
  friend std::unique_ptr<Executable> compile(const Source&, Diagnostics&, const CompileOptions&);
  Executable() = default;

  CodeMemory memory_;
  std::vector<void*> table_;        // entry of each function; jitted calls load from here
  std::vector<void*> spawn_table_;  // of those that are spawned: what calls them in a new thread
  std::deque<FaultSite> faults_;
  std::deque<StaticStr> strs_;
  std::size_t main_ = 0;
};

std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics,
                                    const CompileOptions& options = {});

}  // namespace nib
