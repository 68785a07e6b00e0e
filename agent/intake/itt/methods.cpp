#include "agent/intake/itt/methods.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace jitquill::intake::itt {

Method* Methods::find_by_address(std::uint64_t address) const noexcept {
  Method* found = nullptr;
  by_address_.for_each([&](Method& method) {
    for (const Region& region : method.regions.all()) {
      if (address - region.address < region.size && by_address_.find(region.address) == &method)
        found = &method;
    }
  });
  return found;
}

Method* Methods::add(Report& report) noexcept {
  if (report.id == 0 || by_id_.size() >= kMost) return nullptr;
  void* const room = memory().allocate(sizeof(Method));
  if (room == nullptr) return nullptr;
  auto* const method = new (room) Method;
  method->id = report.id;
  if (!by_id_.put(report.id, method)) {
    memory().free(method);
    return nullptr;
  }
  std::swap(method->name, report.name);
  std::swap(method->file, report.file);
  return method;
}

// The method first: what is found by an address must know of it when it is removed.
bool Methods::add_region(Method& method, Region region) noexcept {
  const auto known = std::find_if(method.regions.all().begin(), method.regions.all().end(),
                                  [&](const Region& other) { return other.address == region.address; });
  if (known != method.regions.all().end()) {
    known->size = region.size;
  } else if (!method.regions.push(region)) {
    return false;
  }
  return by_address_.find(region.address) == &method || by_address_.put(region.address, &method);
}

void Methods::forget(Method& method) noexcept {
  by_id_.erase(method.id);
  method.regions.release();
  method.~Method();
  memory().free(&method);
}

}  // namespace jitquill::intake::itt
