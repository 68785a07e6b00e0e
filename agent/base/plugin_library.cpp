#include "agent/base/plugin_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>

#include "agent/base/fixed_text.hpp"
#include "agent/base/loaded_objects.hpp"
#include "agent/base/text_line.hpp"
#include "agent/base/text_pieces.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kPathSize = PluginPath::kSize;

constinit FixedText<kPathSize> g_folder;  // absolute, with its last slash

void set_folder(std::string_view library) noexcept {
  char current[kPathSize];
  std::string_view front;
  if (!library.starts_with('/')) {
    const long size = raw::call(SYS_getcwd, current, sizeof current);
    if (size > 0) front = {current, static_cast<std::size_t>(size) - 1};
  }
  TextLine<kPathSize> folder;
  if (!front.empty()) folder.text(front).text("/");
  (void)g_folder.set(folder.text(first(library, library.rfind('/') + 1)).view());
}

}  // namespace

void note_own_folder() noexcept {
  if (!g_folder.view().empty()) return;
  for_each_loaded_object([](const ElfObject& object) {
    if (object.contains(reinterpret_cast<std::uintptr_t>(&note_own_folder))) set_folder(object.path());
  });
}

const void* open_plugin(std::string_view file_name, const char* table_name, std::size_t size,
                        PluginPath& path) noexcept {
  const std::string_view folder = g_folder.view();
  if (folder.empty() || folder.size() + file_name.size() >= kPathSize) return nullptr;
  char* const name = std::copy_n(folder.data(), folder.size(), path.text);
  *std::copy_n(file_name.data(), file_name.size(), name) = '\0';
  void* const library = ::dlopen(path.text, RTLD_NOW | RTLD_LOCAL);
  const void* const table = library == nullptr ? nullptr : ::dlsym(library, table_name);
  if (table == nullptr) return nullptr;
  const auto struct_size = *static_cast<const std::uint32_t*>(table);
  return struct_size >= size ? table : nullptr;
}

}  // namespace jitquill
