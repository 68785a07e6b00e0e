#include "agent/intake/symfile/open_plugin.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string_view>

#include "agent/base/loaded_objects.hpp"
#include "agent/base/text_line.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/told.hpp"
#include "agent/life/options.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::intake {
namespace {

constexpr std::size_t kPathSize = 4096;

constinit FixedText<kPathSize> g_path;
enum class Opening { kNotTried, kGoesOn, kDone };
constinit Opening g_opening = Opening::kNotTried;  // under the intakes' lock
constinit std::atomic<const symfile::Plugin*> g_plugin{nullptr};

// "<folder of library>/libjitquill-symfile.so", absolute.
void set_path(std::string_view library) noexcept {
  char folder[kPathSize];
  std::string_view front;
  if (!library.starts_with('/')) {
    const long size = raw::call(SYS_getcwd, folder, sizeof folder);
    if (size > 0) front = {folder, static_cast<std::size_t>(size) - 1};
  }
  TextLine<kPathSize> path;
  if (!front.empty()) path.text(front).text("/");
  path.text(library.substr(0, library.rfind('/') + 1)).text(symfile::kFileName);
  (void)g_path.set(path.view());
}

const symfile::Plugin* open() noexcept {
  void* const library = g_path.view().empty() ? nullptr : ::dlopen(g_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto* table = static_cast<const symfile::Plugin*>(::dlsym(library, symfile::kTableName));
  return table != nullptr && table->struct_size >= sizeof *table ? table : nullptr;
}

}  // namespace

void note_own_folder() noexcept {
  if (!g_path.view().empty()) return;
  for_each_loaded_object([](const ElfObject& object) {
    if (object.contains(reinterpret_cast<std::uintptr_t>(&note_own_folder))) set_path(object.path());
  });
}

bool open_symfile_plugin() {
  if (g_opening != Opening::kNotTried) return g_opening == Opening::kDone;
  g_opening = Opening::kGoesOn;
  IntakeLock::unlock();
  const symfile::Plugin* const plugin = open();
  (void)IntakeLock::lock();
  g_plugin.store(plugin, std::memory_order_release);
  g_opening = Opening::kDone;
  if (plugin == nullptr) {
    Message line;
    line.text("cannot use ").text(g_path.view());
    remark(line.text(": of JITs that tell debuggers, only Erlang's is understood").view());
  }
  return true;
}

const symfile::Plugin* symfile_plugin() noexcept {
  return g_plugin.load(std::memory_order_acquire);
}

}  // namespace jitquill::intake
