// V8 in this process: which version it is, and what of it can be called.
//
// Context   look_for(): inside dl_iterate_phdr(). The members: as V8 says of each, on the isolate's thread.
// Does not  need V8's headers: what is called takes pointers and numbers, which have no layout, but for the
//           event (code_event.hpp).
#pragma once

#include <string_view>

#include "agent/base/elf_object.hpp"
#include "agent/intake/v8/code_event.hpp"

namespace jitquill::intake::v8 {

struct Engine {
#define V8_FUNCTION(member, needed, type, name) std::add_pointer_t<type> member = nullptr;
#include "agent/intake/v8/functions.def"
#undef V8_FUNCTION

  // Whether positions in a script can be turned into lines.
  bool knows_lines() const noexcept {
    return current_isolate != nullptr && open_handles != nullptr && close_handles != nullptr &&
           line_of != nullptr;
  }
};

// True if the object is, or holds, a V8.
bool look_for(const ElfObject& object, Engine& engine) noexcept;

// Whether events of this version ("11.3.244.8-node.38") are laid out as code_event.hpp says.
bool is_known_version(std::string_view version) noexcept;

}  // namespace jitquill::intake::v8
