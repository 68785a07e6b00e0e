// How the command speaks: on stderr, each line of its own begun with its name.
//
// Context   the `jitquill` command: an ordinary program, single-threaded; this is so for all of agent/cli.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitquill::cli {

// Exit codes of the command's own.
inline constexpr int kNothingRecorded = 1;
inline constexpr int kViolations = 1;
inline constexpr int kUsage = 2;
inline constexpr int kUnreadable = 2;
inline constexpr int kOwnTrouble = 125;  // as env and timeout
inline constexpr int kNotExecutable = 126;
inline constexpr int kNotFound = 127;

void say(std::string_view line);
std::string error_text(int error);

// "1 function", "2 functions"; "1 process", "2 processes".
std::string counted(std::uint64_t count, std::string_view noun);
std::string size_text(std::uint64_t bytes);
// As a word of a shell's command line.
std::string shell_word(std::string_view word);
std::string shell_words(const std::vector<std::string>& words);
// Control characters as '?': a terminal obeys them.
std::string plain(std::string_view text);

}  // namespace jitquill::cli
