// The OpenJ9 traces that a host's run leaves, judged.
//
// Context   drivers of host programs.
// Promises  what is asked for has passed the strict reader, or the test has failed. Where
//           JITQUILL_OPENJ9_FORMATTER holds the command of OpenJ9's formatter, its text is the reader's.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/host/run/run_files.hpp"
#include "tests/readers/openj9/text.hpp"

namespace trace_files {

// The files of a trace that goes on in others, in order; and all of them behind the first's header.
std::vector<std::string> all(const test_support::TempFolder& folder);
std::string joined(const std::vector<std::string>& files);

// The only .trc below the folder; "" fails the test.
std::string only(const test_support::TempFolder& folder);

// Of it and the .dat beside it.
struct Trace {
  openj9_reader::File file;
  openj9_reader::Catalogue templates;
  std::vector<std::string> lines;  // one for each entry, as they are printed

  // Behind the point's text: "jqm", ">" -> what stands behind it.
  std::vector<std::string> said(const std::string& words) const;
};
// `component`: of a runtime's own, whose format data file is the second.
Trace whole(const test_support::TempFolder& folder, const std::string& component = "");
// Of a file of a trace that goes on: `path`, or what `joined` has, is read by the .dat of the first.
Trace whole_file(const std::string& path, const std::string& dats);

// How often each function was entered, and how often left.
struct Balance {
  std::uint64_t entered = 0;
  std::uint64_t left = 0;
};
std::map<std::string, Balance> calls_by_name(const Trace& trace);

// That each exit is of the function that was entered last and not left, thread by thread, and that both are
// printed as deep as they are.
void expect_nested(const Trace& trace);

}  // namespace trace_files
