#include "agent/cli/file_kinds.hpp"

#include <algorithm>
#include <string_view>

#include "agent/cli/eventlog.hpp"
#include "agent/cli/oprofile.hpp"

namespace jitquill::cli {
namespace {

constexpr FileKind kKinds[] = {
    {&is_eventlog, &show_eventlog, &check_eventlog},
    {&is_oprofile, &show_oprofile, &check_oprofile},
};

}  // namespace

const FileKind* kind_of(std::span<const std::uint8_t> bytes) {
  for (const FileKind& kind : kKinds) {
    if (kind.is(bytes)) return &kind;
  }
  return nullptr;
}

std::string words_of_other(std::span<const std::uint8_t> bytes, const std::string& why) {
  constexpr std::string_view kOpenJ9 = "UTTH";
  if (std::ranges::equal(bytes.first(std::min(bytes.size(), kOpenJ9.size())), kOpenJ9))
    return "an OpenJ9 trace, which OpenJ9's traceformat prints, with the .dat beside it (docs/openj9.md)";
  return "neither a jitdump of this byte order, an eventlog nor a file of the OProfile ABI, and " + why;
}

}  // namespace jitquill::cli
