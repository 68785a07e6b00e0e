// A switch of HotSpot's, read from the tables that it exports for debuggers (gHotSpotVMStructs): they
// describe where in the VM its own list of switches lies.
//
// Context   [notify], no lock held; takes the loader's lock. Fault-proof copies only.
// Does not  know another VM: nothing is found there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace jitquill::intake::jvmti {

// Rows of gHotSpotVMStructs and gHotSpotVMTypes; both tables end with a row without a type.
struct VmField {
  const char* type;
  const char* name;
  const char* type_of_value;
  std::int32_t is_static;
  std::uint64_t offset;
  const void* address;  // of a static one
};
struct VmType {
  const char* type;
  const char* base;
  std::int32_t kinds[3];
  std::uint64_t size;
};
struct VmTables {
  const VmField* fields = nullptr;
  const VmType* types = nullptr;
};

// Of the libjvm.so in this process; null: it has none, or of another layout.
VmTables find_vm_tables();

// A switch that is on or off; none: no such switch, or tables that make no sense.
std::optional<bool> vm_flag(const VmTables& tables, std::string_view name) noexcept;

}  // namespace jitquill::intake::jvmti
