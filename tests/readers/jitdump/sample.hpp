// A whole jitdump file, byte by byte, that perf 6.1 unwinds and annotates: one function with lines and
// unwinding.
//
// Context   tests.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace jitdump_reader {

inline constexpr std::string_view kSampleHex =
    // 0x0 header
    "4454694a01000000280000003e0000000000000082350000f2b846f41f0100000000000000000000"
    // 0x28 CODE_DEBUG_INFO: 7 rows
    "02000000c8000000b5ba46f41f01000040c0a9ad737f0000070000000000000040c0a9ad737f00000300000000000000"
    "686f742e7372630050c0a9ad737f00000400000000000000686f742e7372630055c0a9ad737f00000500000000000000"
    "686f742e7372630059c0a9ad737f00000600000000000000686f742e737263005cc0a9ad737f00000700000000000000"
    "686f742e7372630061c0a9ad737f00000900000000000000686f742e737263006cc0a9ad737f00000900000000000000"
    "686f742e73726300"
    // 0xf0 CODE_UNWINDING_INFO: CIE, FDE, header
    "040000007c000000b5ba46f41f0100005400000000000000140000000000000054000000000000001400000000000000"
    "017a5200017810011b0c070890010000240000001c000000b0ffffff2c00000000410e108302420e188c03470eb0015e"
    "0e18420e10410e08011b033bbcffffff0100000090ffffffd8ffffff"
    // 0x16c CODE_LOAD jitted_hot, 44 bytes of code
    "000000006f000000b5ba46f41f010000823500008235000040c0a9ad737f000040c0a9ad737f00002c00000000000000"
    "01000000000000006a69747465645f686f74005341544881ec980000004889fb4989f4b900100000ffc975fc41ffd448"
    "ffcb75ef4881c498000000415c5bc3"
    // 0x1db CODE_CLOSE
    "030000001000000006d246f41f010000";

inline std::vector<std::uint8_t> sample() {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < kSampleHex.size(); i += 2) {
    bytes.push_back(
        static_cast<std::uint8_t>(std::strtoul(std::string(kSampleHex.substr(i, 2)).c_str(), nullptr, 16)));
  }
  return bytes;
}

// Where things lie in it.
inline constexpr std::size_t kDebugAt = 0x28;
inline constexpr std::size_t kRowsAt = 0x48;  // 24 bytes each, 7 of them
inline constexpr std::size_t kUnwindAt = 0xF0;
inline constexpr std::size_t kBlobAt = 0x118;
inline constexpr std::size_t kFdeAt = 0x130;
inline constexpr std::size_t kFdeOpsAt = 0x141;
inline constexpr std::size_t kHdrAt = 0x158;
inline constexpr std::size_t kLoadAt = 0x16C;
inline constexpr std::size_t kNameAt = 0x1A4;
inline constexpr std::size_t kCodeAt = 0x1AF;
inline constexpr std::size_t kCloseAt = 0x1DB;
inline constexpr std::uint64_t kSampleAddress = 0x7F73ADA9C040;
inline constexpr std::uint32_t kSamplePid = 13698;

}  // namespace jitdump_reader
