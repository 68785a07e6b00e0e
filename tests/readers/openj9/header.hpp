// The header of a trace, and the records behind it: reader.hpp in its parts.
//
// Context   tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/readers/openj9/bytes.hpp"
#include "tests/readers/openj9/reader.hpp"

namespace openj9_reader {

using Report = std::function<void(std::uint64_t at, Rule rule, std::string reason)>;

// False: the formatter refuses the file.
bool read_header(std::string_view bytes, Header& header, const Report& report);

// The entries of the record at `record.at`, oldest first, into `entries`.
void read_entries(const Source& file, const Header& header, Record& record, std::vector<Entry>& entries,
                  const Report& report);

// As the formatter merges the threads, given in the order of their first records.
std::vector<Entry> merged(std::vector<std::vector<Entry>> threads);

}  // namespace openj9_reader
