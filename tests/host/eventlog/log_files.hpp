// The eventlogs that a host's run leaves, judged.
//
// Context   drivers of host programs.
// Promises  what is asked for has passed the strict reader, or the test has failed.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/host/run/run_files.hpp"
#include "tests/readers/eventlog/reader.hpp"

namespace log_files {

// The only one below the folder; "" fails the test.
std::string only(const test_support::TempFolder& folder);

// Read, whole, and with every broken rule a failure.
eventlog_reader::File whole(const test_support::TempFolder& folder);

// Those of one process in their order, each whole.
std::vector<eventlog_reader::File> all_whole(const test_support::TempFolder& folder);
std::vector<std::string> all(const test_support::TempFolder& folder);

// Numbers of our own events, as docs/eventlog.md has them.
inline constexpr std::uint16_t kClockBase = 300, kCodeLoad = 301, kFunction = 304, kEnter = 305, kLeave = 306,
                               kUnwound = 307, kLost = 309, kRuntimeEvent = 314, kSelfCost = 315;

std::vector<eventlog_reader::Event> numbered(const eventlog_reader::File& file, std::uint16_t number);
// So many bytes of a payload of ours, as a number.
std::uint64_t number_at(const eventlog_reader::Event& event, std::size_t at, std::size_t size);
// Up to a NUL.
std::string text_at(const eventlog_reader::Event& event, std::size_t at);

// How often each function was entered; one without a definition fails the test.
std::map<std::string, std::uint64_t> entries_by_name(const eventlog_reader::File& file);

}  // namespace log_files
