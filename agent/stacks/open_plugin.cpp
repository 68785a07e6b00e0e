#include "agent/stacks/open_plugin.hpp"

#include <atomic>

#include "agent/base/plugin_library.hpp"
#include "agent/stacks/step_lock.hpp"

namespace jitquill::stacks {
namespace {

constinit std::atomic<bool> g_was_tried{false};
constinit PluginPath g_path;
constinit std::atomic<const Plugin*> g_plugin{nullptr};

}  // namespace

bool open_stacks_plugin(std::string_view& path) noexcept {
  if (g_was_tried.exchange(true)) return true;
  note_own_folder();
  const auto* const plugin =
      static_cast<const Plugin*>(open_plugin(kFileName, kTableName, sizeof(Plugin), g_path));
  g_plugin.store(plugin, std::memory_order_release);
  path = g_path.text;
  return plugin != nullptr;
}

const Plugin* stacks_plugin() noexcept {
  return g_plugin.load(std::memory_order_acquire);
}

void drop_plugin_cut_off() noexcept {
  if (StepLock::was_cut_off()) g_plugin.store(nullptr, std::memory_order_release);
}

}  // namespace jitquill::stacks
