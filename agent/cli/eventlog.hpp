// What the command does with a file that is an eventlog.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace jitquill::cli {

bool is_eventlog(std::span<const std::uint8_t> bytes);
// A line for each record; `limit` 0 = all.
void show_eventlog(std::span<const std::uint8_t> bytes, std::uint64_t limit);
// A line for each finding, and one of all; the exit code.
int check_eventlog(const std::string& shown, std::span<const std::uint8_t> bytes, std::uint64_t limit);

}  // namespace jitquill::cli
