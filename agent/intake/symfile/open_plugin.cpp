#include "agent/intake/symfile/open_plugin.hpp"

#include <atomic>

#include "agent/base/plugin_library.hpp"
#include "agent/base/text_line.hpp"
#include "agent/intake/intake_lock.hpp"
#include "agent/intake/told.hpp"

namespace jitquill::intake {
namespace {

enum class Opening { kNotTried, kGoesOn, kDone };
constinit Opening g_opening = Opening::kNotTried;  // under the intakes' lock
constinit PluginPath g_path;
constinit std::atomic<const symfile::Plugin*> g_plugin{nullptr};

}  // namespace

bool open_symfile_plugin() {
  if (g_opening != Opening::kNotTried) return g_opening == Opening::kDone;
  g_opening = Opening::kGoesOn;
  IntakeLock::unlock();
  const auto* const plugin = static_cast<const symfile::Plugin*>(
      open_plugin(symfile::kFileName, symfile::kTableName, sizeof(symfile::Plugin), g_path));
  (void)IntakeLock::lock();
  g_plugin.store(plugin, std::memory_order_release);
  g_opening = Opening::kDone;
  if (plugin == nullptr) {
    Message line;
    line.text("cannot use ").text(g_path.text);
    remark(line.text(": of JITs that tell debuggers, only Erlang's is understood").view());
  }
  return true;
}

const symfile::Plugin* symfile_plugin() noexcept {
  return g_plugin.load(std::memory_order_acquire);
}

}  // namespace jitquill::intake
