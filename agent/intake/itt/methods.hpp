// The methods that ITT emitters have reported: what their first report called them, and where their code
// lies.
//
// Context   [notify], under the intakes' lock.
// Promises  an address belongs to the method that was last reported there: one that is gone takes nobody
//           else's code along. At most kMost methods; what comes after those is told and not remembered.
#pragma once

#include <cstdint>

#include "agent/intake/itt/report.hpp"
#include "agent/intake/memory.hpp"
#include "agent/intake/number_table.hpp"

namespace jitquill::intake::itt {

struct Region {
  std::uint64_t address;
  std::uint32_t size;
};

struct Method {
  std::uint32_t id = 0;
  Text name;
  Text file;
  Growing<Region> regions = {};
};

class Methods {
 public:
  static constexpr std::size_t kMost = 1u << 20;

  Method* find(std::uint32_t id) const noexcept { return by_id_.find(id); }
  // The method that has this byte. Looks at all methods.
  Method* find_by_address(std::uint64_t address) const noexcept;

  // Takes name and file out of the report. Null: no memory, or too many.
  Method* add(Report& report) noexcept;
  // One more region, or another one in the place of what began there. False: no memory.
  bool add_region(Method& method, Region region) noexcept;
  // Calls end(address) for each region that is still the method's.
  template <class End>
  void remove(Method& method, End end) noexcept {
    for (const Region& region : method.regions.all()) {
      if (by_address_.find(region.address) != &method) continue;
      by_address_.erase(region.address);
      end(region.address);
    }
    forget(method);
  }

 private:
  void forget(Method& method) noexcept;

  NumberTable<Method> by_id_;
  NumberTable<Method> by_address_;
};

}  // namespace jitquill::intake::itt
