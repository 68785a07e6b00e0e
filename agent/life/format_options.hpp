// The options that single formats have: each answers null, or why the value does not do.
//
// Context   [life]: no allocation, no output.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/life/options.hpp"

namespace jitquill {

// Of a name of sinks.def; 0: there is none.
std::uint32_t bit_of_format(std::string_view format) noexcept;

const char* set_eventlog_own(Options& options, std::string_view value) noexcept;
const char* set_eventlog_level(Options& options, std::string_view value) noexcept;
const char* set_eventlog_messages(Options& options, std::string_view value) noexcept;
const char* set_eventlog_profile(Options& options, std::string_view value) noexcept;
const char* set_eventlog_interval(Options& options, std::string_view value) noexcept;
const char* set_eventlog_to(Options& options, std::string_view value) noexcept;
const char* set_openj9_select(Options& options, std::string_view value) noexcept;
const char* set_openj9_type(Options& options, std::string_view value) noexcept;

}  // namespace jitquill
