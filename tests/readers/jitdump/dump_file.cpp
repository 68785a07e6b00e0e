#include <fstream>
#include <iterator>
#include <string_view>

#include "tests/readers/jitdump/reader.hpp"

namespace jitdump_reader {
namespace {

// "jit-123.dump" gives 123.
std::optional<std::uint32_t> pid_of(std::string_view base_name) {
  constexpr std::string_view kStart = "jit-";
  constexpr std::string_view kEnd = ".dump";
  if (!base_name.starts_with(kStart) || !base_name.ends_with(kEnd)) return std::nullopt;
  if (base_name.size() <= kStart.size() + kEnd.size()) return std::nullopt;
  const auto digits = base_name.substr(kStart.size(), base_name.size() - kStart.size() - kEnd.size());
  std::uint64_t pid = 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9' || pid > INT32_MAX) return std::nullopt;
    pid = pid * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (pid == 0 || pid > INT32_MAX || digits.front() == '0') return std::nullopt;
  return static_cast<std::uint32_t>(pid);
}

}  // namespace

Dump read_file(const std::string& path, Expectations expectations) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    Dump dump;
    dump.violations.push_back({0, Rule::kFileRead, "cannot be opened"});
    return dump;
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto pid = pid_of(std::string_view(path).substr(path.find_last_of('/') + 1));
  if (pid && !expectations.pid) expectations.pid = pid;
  Dump dump = read({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, expectations);
  if (!pid || pid != expectations.pid) {
    dump.violations.insert(dump.violations.begin(), {0, Rule::kFileName, "is not jit-<pid>.dump"});
  }
  return dump;
}

}  // namespace jitdump_reader
