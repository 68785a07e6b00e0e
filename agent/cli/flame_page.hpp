// A page that draws folded stacks: agent/cli/flame/page.html with a title and the data in it.
//
// Promises  equal input gives an equal page. Nothing of a name or the title is markup or script there.
#pragma once

#include <string>
#include <string_view>

#include "agent/cli/folded_file.hpp"

namespace jitquill::cli {

std::string flame_page(const FoldedFile& file, std::string_view title, std::string_view unit);

}  // namespace jitquill::cli
