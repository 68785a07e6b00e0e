// OpenJ9's own formatter, where there is one: its text must be the reader's.
//
// Context   tests. JITQUILL_OPENJ9_FORMATTER holds its command, up to the arguments; without it nothing is
//           compared.
#pragma once

#include <string>

#include "tests/readers/openj9/text.hpp"

namespace openj9_reader {

inline constexpr const char* kFormatterVariable = "JITQUILL_OPENJ9_FORMATTER";

// `trace`: the path of what was read as `file`. `dats`: of format data files, a comma between them. `text`:
// of text_of(); what is in front of the entries is compared without its threads, whose order is a hash
// table's there. The formatter has a warning for each loss, and no other.
void expect_as_formatted(const std::string& trace, const std::string& dats, const File& file,
                         const std::string& text);

}  // namespace openj9_reader
