// What the command does with a file of the OProfile ABI.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace jitquill::cli {

bool is_oprofile(std::span<const std::uint8_t> bytes);
// A line for each note, buffer, sample, path or count; `limit` 0 = all.
void show_oprofile(std::span<const std::uint8_t> bytes, std::uint64_t limit);
// A line for each finding, and one of all; the exit code.
int check_oprofile(const std::string& shown, std::span<const std::uint8_t> bytes, std::uint64_t limit);

}  // namespace jitquill::cli
