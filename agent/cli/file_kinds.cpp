#include "agent/cli/file_kinds.hpp"

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

}  // namespace jitquill::cli
