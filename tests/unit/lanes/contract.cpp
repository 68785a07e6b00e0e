#include "tests/unit/lanes/contract.hpp"

#include <cpuid.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace {

struct alignas(64) VectorArea {
  std::array<std::uint8_t, 4096> bytes{};
};

struct Contract {
  std::uint64_t before[15] = {};
  std::uint64_t after[15] = {};
  VectorArea *vectors_before = nullptr, *vectors_after = nullptr, *vectors_none = nullptr;
};
static_assert(offsetof(Contract, after) == 120 && offsetof(Contract, vectors_before) == 240);

}  // namespace

extern "C" void contract_call(const void* function, const Contract* contract, std::uint64_t shift);

namespace lanes_test {
namespace {

// A piece of the area and what it holds.
struct Piece {
  const char* name;
  std::size_t at;
  std::size_t size;
};

std::uint64_t enabled_states() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (std::uint64_t{high} << 32 | low) & 0xe7;
}

std::vector<Piece> pieces() {
  std::vector<Piece> all = {{"x87 control, status and tags", 0, 5}, {"MXCSR", 24, 4}};
  for (std::size_t i = 0; i < 8; ++i) all.push_back({"st", 32 + 16 * i, 10});
  for (std::size_t i = 0; i < 16; ++i) all.push_back({"xmm", 160 + 16 * i, 16});
  constexpr const char* kNames[] = {
      "", "", "upper halves of ymm", "", "", "mask registers", "upper halves of zmm", "zmm16 to zmm31"};
  for (const std::uint32_t state : {2u, 5u, 6u, 7u}) {
    std::uint32_t size = 0, at = 0, c = 0, d = 0;
    if ((enabled_states() >> state & 1) != 0 && __get_cpuid_count(0xD, state, &size, &at, &c, &d) != 0)
      all.push_back({kNames[state], at, size});
  }
  return all;
}

template <class T>
void set(VectorArea& area, std::size_t at, T value) {
  std::memcpy(area.bytes.data() + at, &value, sizeof value);
}

// Each register a value that occurs nowhere else.
void fill(VectorArea& area, std::mt19937& random) {
  for (const Piece& piece : pieces())
    for (std::size_t i = 0; i < piece.size; ++i)
      area.bytes[piece.at + i] = static_cast<std::uint8_t>(random());
  set<std::uint16_t>(area, 0, 0x027F);  // double precision
  set<std::uint16_t>(area, 2, 0);
  set<std::uint8_t>(area, 4, 0xFF);      // all in use
  set<std::uint32_t>(area, 24, 0x5F80);  // rounds up
  for (std::size_t i = 0; i < 8; ++i)
    set<std::uint16_t>(area, 32 + 16 * i + 8, 0x3FFF), area.bytes[32 + 16 * i + 7] |= 0x80;
  set<std::uint64_t>(area, 512, enabled_states());
}

}  // namespace

void expect_kept(const std::uint8_t* function) {
  std::mt19937 random(1);
  for (const std::uint64_t shift : {std::uint64_t{0}, std::uint64_t{8}}) {
    VectorArea before, after, none;
    fill(before, random);
    set<std::uint32_t>(none, 24, 0x1F80);
    Contract contract{{}, {}, &before, &after, &none};
    for (std::uint64_t& value : contract.before) value = std::uint64_t{random()} << 32 | random();
    contract_call(function, &contract, shift);
    for (int i = 0; i < 13; ++i)
      EXPECT_EQ(contract.after[i], contract.before[i]) << "register " << i << ", shift " << shift;
    for (const Piece& piece : pieces())
      EXPECT_EQ(std::memcmp(&before.bytes[piece.at], &after.bytes[piece.at], piece.size), 0)
          << piece.name << " at " << piece.at << ", shift " << shift;
  }
}

}  // namespace lanes_test
