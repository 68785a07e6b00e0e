// Erlang's symbol files, spelled as its JIT lays them out.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace beam_spelled {

class Spelled {
 public:
  template <class T>
  Spelled& put(T value) {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
    file.insert(file.end(), bytes, bytes + sizeof value);
    return *this;
  }
  Spelled& text(const std::string& words) {
    put(static_cast<std::uint16_t>(words.size() + 1));
    file.insert(file.end(), words.begin(), words.end());
    return put('\0');
  }
  Spelled& garbage(std::size_t size) {
    file.insert(file.end(), size, 0xA5);
    return *this;
  }

  std::vector<std::uint8_t> file;
};

inline std::vector<std::uint8_t> module_file(std::uint64_t base = 0x7F0000000000) {
  Spelled file;
  file.put<std::uint32_t>(1).garbage(4).put<std::uint64_t>(base);
  file.put<std::uint32_t>(2).put<std::uint32_t>(0x100).text("lists").garbage(6);
  file.put<std::uint32_t>(0)
      .put<std::uint32_t>(0x40)
      .put<std::uint32_t>(0)
      .text("lists::codeHeader")
      .garbage(2);
  file.put<std::uint32_t>(0x40).put<std::uint32_t>(0x90).put<std::uint32_t>(2).text("lists:map/2").garbage(2);
  file.put<std::uint32_t>(0x40).put<std::uint32_t>(7).text("lists.erl").garbage(2);
  file.put<std::uint32_t>(0x60).put<std::uint32_t>(9).text("lists.erl").garbage(2);
  return file.file;
}

}  // namespace beam_spelled
