// Structures of the ITT JIT API, spelled by offset as its specification has them: nothing here is ours.
//
// Context   tests of the intake.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace itt_spelled {

struct Structure {
  std::array<std::uint8_t, 72> bytes{};

  template <class T>
  Structure& put(std::size_t at, T value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
    return *this;
  }
};

struct Version {
  unsigned event;
  std::uint32_t size;
  std::size_t parent_at;  // 0 = it has none
  std::size_t class_at;
  std::size_t file_at;
};
inline constexpr Version kV1{13, 64, 0, 48, 56};
inline constexpr Version kV2{21, 64, 0, 40, 48};
inline constexpr Version kV3{22, 72, 0, 40, 48};
inline constexpr Version kInlined{16, 56, 4, 40, 48};

struct Method {
  std::uint32_t id = 1;
  std::uint32_t parent = 0;
  const char* name = nullptr;
  const void* address = nullptr;
  std::uint32_t size = 0;
  std::vector<std::array<std::uint32_t, 2>> lines = {};  // {end, line}
  const char* class_name = nullptr;
  const char* file = nullptr;

  // Points into this.
  Structure as(const Version& version) const {
    Structure s;
    s.put(0, id).put(8, name).put(16, address).put(24, size);
    s.put(28, static_cast<std::uint32_t>(lines.size())).put(32, lines.empty() ? nullptr : lines.data());
    s.put(version.class_at, class_name).put(version.file_at, file);
    if (version.parent_at != 0) s.put(version.parent_at, parent);
    return s;
  }
};

}  // namespace itt_spelled
