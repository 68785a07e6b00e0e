#include "agent/intake/jvmti/vm.hpp"

#include <fcntl.h>

#include <string_view>

#include "agent/base/folder_entries.hpp"
#include "agent/base/loaded_objects.hpp"
#include "agent/base/text_line.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr const char* kThreads = "/proc/self/task";
constexpr const char* kLister = "JNI_GetCreatedJavaVMs";
using Lister = std::int32_t(Vm** vms, std::int32_t room, std::int32_t* count);

// /proc/self/task/<thread>/comm is `wanted`.
bool is_called(const char* thread, std::string_view wanted) noexcept {
  TextLine<64> path;
  path.text(kThreads).text("/").text(thread).text("/comm").nul();
  const int file = raw::open_at(AT_FDCWD, path.view().data(), O_RDONLY | O_CLOEXEC, 0);
  if (file < 0) return false;
  char name[17];
  const long size = raw::call(SYS_read, file, name, sizeof name);
  raw::close(file);
  return size > 0 && std::string_view(name, static_cast<std::size_t>(size) - 1) == wanted;
}

bool has_thread(std::string_view wanted) noexcept {
  bool found = false;
  for_each_entry(AT_FDCWD, kThreads, [&](const char* thread) { found = found || is_called(thread, wanted); });
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
