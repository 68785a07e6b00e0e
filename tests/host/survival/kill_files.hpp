// Compares what is in the files of kill_host with what it did.
//
// Context   drivers of kill_host.
#pragma once

#include "tests/host/run/run_files.hpp"
#include "tests/host/survival/kill_record.hpp"

namespace kill_files {

// All that was made for sure is there, in its order, at most what was begun, and nothing else.
void expect_all(const kill_record::Progress& progress, const test_support::TempFolder& folder);

// The same of the newest only: what is missing is in front.
void expect_newest(const kill_record::Progress& progress, const test_support::TempFolder& folder);

// What is in the file and what is said to be lost is what was done, by a host that was not killed.
void expect_sum(const kill_record::Progress& progress, const test_support::TempFolder& folder);

}  // namespace kill_files
