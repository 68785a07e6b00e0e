// Opens a plugin: a library that lies beside libjitquill.so, for what needs other libraries and their memory.
//
// Context   note_own_folder(): [life]. open_plugin(): with no lock of ours held: constructors of the host's
//           libraries run inside the loader, and may jit.
// Does not  close one again.
#pragma once

#include <cstddef>
#include <string_view>

namespace jitquill {

struct PluginPath {
  static constexpr std::size_t kSize = 4096;
  char text[kSize] = {};
};

// Remembers where libjitquill.so lies, before the host changes its folder.
void note_own_folder() noexcept;

// The plugin's table of that name, of `size` bytes or more, of which the first four say how many; `path` gets
// where the file is. Null: it is not there, or of another build.
const void* open_plugin(std::string_view file_name, const char* table_name, std::size_t size,
                        PluginPath& path) noexcept;

}  // namespace jitquill
