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

class Executable {
 public:
  using Main = void (*)();

  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  Main main() const noexcept { return reinterpret_cast<Main>(table_[main_]); }
  // For stack traces; empty without an agent.
  const CodeTable& code_table() const noexcept { return memory_.table(); }

 private:
  friend std::unique_ptr<Executable> compile(const Source&, Diagnostics&, SitePolicy);
  Executable() = default;

  CodeMemory memory_;
  std::vector<void*> table_;  // entry of each function; jitted calls load from here
  std::deque<FaultSite> faults_;
  std::deque<StaticStr> strs_;
  std::size_t main_ = 0;
};

// `sites`: whether calls of the functions can be traced.
std::unique_ptr<Executable> compile(const Source& source, Diagnostics& diagnostics,
                                    SitePolicy sites = SitePolicy::kWhenWanted);

}  // namespace nib
