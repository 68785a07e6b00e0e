#include "agent/unwinders/host_unwinders.hpp"

#include <sys/mman.h>

#include <atomic>

#include "agent/base/loaded_objects.hpp"
#include "writer/bytes/raw_calls.hpp"
#include "writer/unwind/eh_frame.hpp"

namespace jitquill::unwinders {
namespace {

constexpr std::size_t kPageSize = 4096;

void read_engine(const ElfObject& object, ExceptionEngine& engine) noexcept {
  ExceptionEngine found;
  if (object.find("_Unwind_RaiseException") == 0 || object.find("_U_dyn_register") != 0) return;
  if (!object.find("__register_frame", found.register_frame) ||
      !object.find("__deregister_frame", found.deregister_frame))
    return;
  if (object.find("__unw_add_dynamic_fde") != 0) {
    found.style = Style::kEntries;
  } else if (object.find("__register_frame_info", found.register_section) &&
             object.find("__deregister_frame_info", found.deregister_section) &&
             object.find("_Unwind_Find_FDE") != 0) {
    found.style = Style::kSections;
  }
  object.find("_Unwind_Find_FDE", found.find_entry);
  if (found.style != Style::kNone) engine = found;
}

void read_libunwind(const ElfObject& object, NongnuLibunwind& libunwind) noexcept {
  if (!libunwind.is_there() && object.find("_U_dyn_info_list_addr", libunwind.list))
    object.find("_U_dyn_register", libunwind.register_record);
  NongnuLibunwind::Cache cache;
  if (!object.find("_Ux86_64_flush_cache", cache.flush)) return;
  if (!object.find("_ULx86_64_local_addr_space", cache.address_space) &&
      !object.find("_Ux86_64_local_addr_space", cache.address_space))
    return;
  for (NongnuLibunwind::Cache& free_place : libunwind.caches) {
    if (free_place.flush != nullptr) continue;
    free_place = cache;
    return;
  }
}

// A section of one entry for this page, whose range is changed behind the engine's back.
struct Probe {
  alignas(8) std::uint8_t section[256];
  alignas(16) std::uint8_t object[128];
};
static_assert(sizeof(Probe) < kPageSize);

constexpr std::size_t kRangeInEntry = 16;  // | length 4 | distance 4 | pc_begin 8 | pc_range 8 |
constexpr std::uint64_t kProbedSize = 64;

std::atomic_ref<std::uint64_t> range_of(std::uint8_t* entry) noexcept {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(entry + kRangeInEntry));
}

}  // namespace

void NongnuLibunwind::flush() const noexcept {
  for (const Cache& cache : caches) {
    if (cache.flush != nullptr) cache.flush(*cache.address_space, 0, 0);
  }
}

HostUnwinders find_host_unwinders() noexcept {
  HostUnwinders found;
  for_each_loaded_object([&](const ElfObject& object) {
    if (found.engine.style == Style::kNone) read_engine(object, found.engine);
    read_libunwind(object, found.libunwind);
  });
  return found;
}

// libgcc 12 reads an entry's range when a pc is looked up, libgcc 13 and newer when a section is registered:
// then an empty range is not even in their tree. So an entry that is registered empty and widened afterwards
// is found by the former only. The page outlives everything, and no code lies in it.
Style ask_style(const ExceptionEngine& engine) noexcept {
  const long page = raw::map(kPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (raw::is_error(page)) return Style::kFunctions;
  auto& probe = *reinterpret_cast<Probe*>(page);
  const auto address = static_cast<std::uint64_t>(page);
  Bytes bytes(std::span(probe.section).first(sizeof probe.section - sizeof(std::uint32_t)));
  unwind::EhFrameSection section(bytes, unwind::PointerForm::kAbsolute8);
  if (section.add(Unwinding::from_events({}), static_cast<std::int64_t>(address), 0) != Status::kOk)
    return Style::kFunctions;
  const std::atomic_ref range = range_of(probe.section + section.last_fde());
  engine.register_section(probe.section, probe.object);
  range.store(kProbedSize, std::memory_order_seq_cst);
  void* bases[4];
  const bool is_read_again = engine.find_entry(reinterpret_cast<const void*>(page + 8), bases) != nullptr;
  range.store(0, std::memory_order_seq_cst);
  // Where it was not found it is in no list either, and some versions abort when asked to take it out.
  if (is_read_again) (void)engine.deregister_section(probe.section);
  return is_read_again ? Style::kSections : Style::kFunctions;
}

}  // namespace jitquill::unwinders
