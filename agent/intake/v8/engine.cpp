#include "agent/intake/v8/engine.hpp"

#include <charconv>
#include <compare>
#include <optional>

namespace jitquill::intake::v8 {
namespace {

struct Version {
  int major;
  int minor;
  auto operator<=>(const Version&) const = default;
};

// Tried with both, and with 11.3 and 12.4 between them: node 18, 20, 22, 24.
constexpr Version kOldest{10, 2};
constexpr Version kNewest{13, 6};

std::optional<Version> parse(std::string_view text) noexcept {
  const char* const end = text.data() + text.size();
  Version version{};
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  if (std::from_chars(major.ptr + 1, end, version.minor).ec != std::errc{}) return std::nullopt;
  return version;
}

}  // namespace

bool look_for(const ElfObject& object, Engine& engine) noexcept {
  Engine found;
#define V8_FUNCTION(member, needed, type, name) \
  if (!object.find(name, found.member) && (needed)) return false;
#include "agent/intake/v8/functions.def"
#undef V8_FUNCTION
  engine = found;
  return true;
}

bool is_known_version(std::string_view text) noexcept {
  const auto version = parse(text);
  return version && *version >= kOldest && *version <= kNewest;
}

}  // namespace jitquill::intake::v8
