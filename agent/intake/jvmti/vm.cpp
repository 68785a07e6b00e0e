#include "agent/intake/jvmti/vm.hpp"

#include <fcntl.h>

#include <cstring>
#include <string_view>

#include "agent/base/loaded_objects.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr const char* kLister = "JNI_GetCreatedJavaVMs";
using Lister = std::int32_t(Vm** vms, std::int32_t room, std::int32_t* count);

// The kernel's layout of a directory entry.
struct Entry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t size;
  std::uint8_t type;
  char name[];
};

// /proc/self/task/<thread>/comm is `wanted`.
bool is_called(int threads, const char* thread, std::string_view wanted) noexcept {
  char path[32];
  const std::size_t length = strnlen(thread, sizeof path);
  constexpr char kRest[] = "/comm";
  if (length + sizeof kRest > sizeof path) return false;
  std::memcpy(path, thread, length);
  std::memcpy(path + length, kRest, sizeof kRest);
  const int file = raw::open_at(threads, path, O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return false;
  char name[17];
  const long size = raw::call(SYS_read, file, name, sizeof name);
  raw::close(file);
  return size > 0 && std::string_view(name, static_cast<std::size_t>(size) - 1) == wanted;
}

bool has_thread(std::string_view wanted) noexcept {
  const int threads = raw::open_at(AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (threads < 0) return false;
  bool found = false;
  alignas(Entry) char entries[4096];
  for (;;) {
    const long size = raw::call(SYS_getdents64, threads, entries, sizeof entries);
    if (size <= 0 || found) break;
    for (long at = 0; at < size && !found;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries + at);
      found = is_called(threads, entry->name, wanted);
      at += entry->size;
    }
  }
  raw::close(threads);
  return found;
}

// Called while the loader keeps the library: whoever loaded it may drop it again without having made a VM.
Vm* first_vm() noexcept {
  Vm* vm = nullptr;
  for_each_loaded_object([&](const ElfObject& object) {
    Lister* list = nullptr;
    std::int32_t count = 0;
    Vm* listed = nullptr;
    if (vm == nullptr && object.find(kLister, list) && list(&listed, 1, &count) == 0 && count > 0)
      vm = listed;
  });
  return vm;
}

}  // namespace

bool makes_vms(const ElfObject& object) noexcept {
  return object.find(kLister) != 0;
}

// HotSpot before JDK 21 lists a VM as soon as its making begins, when an attaching thread would crash
// (JDK-8308341). The thread of this name is started when attaching has become possible, in every version.
Vm* find_ready_vm() noexcept {
  Vm* const vm = first_vm();
  return vm != nullptr && has_thread("Service Thread") ? vm : nullptr;
}

}  // namespace jitquill::intake::jvmti
