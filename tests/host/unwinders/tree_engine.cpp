#include "tests/host/unwinders/tree_engine.hpp"

#include <cstdlib>
#include <cstring>
#include <map>

namespace jitquill::test {
namespace {

struct Registered {
  std::uint64_t end;
  const std::uint8_t* section;
};

std::map<std::uint64_t, Registered>& tree() {
  static std::map<std::uint64_t, Registered> the_tree;
  return the_tree;
}

std::vector<std::string>& noted() {
  static std::vector<std::string> the_complaints;
  return the_complaints;
}

template <class T>
T read(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

struct Range {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  int entries = 0;
};

// Calls with(fde) for each entry up to the zero length.
template <class With>
void each_entry(const std::uint8_t* section, With with) {
  for (std::uint32_t length = read<std::uint32_t>(section); length != 0;
       section += 4 + length, length = read<std::uint32_t>(section)) {
    if (read<std::uint32_t>(section + 4) != 0) with(section);
  }
}

Range range_of(const std::uint8_t* section) {
  Range range;
  each_entry(section, [&](const std::uint8_t* fde) {
    const auto begin = read<std::uint64_t>(fde + 8);
    const auto end = begin + read<std::uint64_t>(fde + 16);
    if (begin < range.begin) range.begin = begin;
    if (end > range.end) range.end = end;
    ++range.entries;
  });
  return range;
}

void add(const void* begin) {
  const auto* const section = static_cast<const std::uint8_t*>(begin);
  const Range range = range_of(section);
  if (range.begin >= range.end) return;  // libgcc leaves out the empty ones
  if (range.entries != 1) noted().push_back("more than one entry");
  const auto above = tree().lower_bound(range.begin);
  if (above != tree().end() && above->first < range.end) noted().push_back("overlaps the next");
  if (above != tree().begin() && std::prev(above)->second.end > range.begin)
    noted().push_back("overlaps the one before");
  tree()[range.begin] = {range.end, section};
}

void remove(const void* begin) {
  const auto* const section = static_cast<const std::uint8_t*>(begin);
  const auto found = tree().find(range_of(section).begin);
  if (found == tree().end() || found->second.section != section) {
    noted().push_back("not registered, or its range has changed");
    return;
  }
  tree().erase(found);
}

}  // namespace

const std::vector<std::string>& complaints() {
  return noted();
}
std::size_t registered_count() {
  return tree().size();
}

}  // namespace jitquill::test

using namespace jitquill::test;

extern "C" {

void __register_frame(const void* begin);
void __deregister_frame(const void* begin);
void __register_frame_info(const void* begin, void* object);
void* __deregister_frame_info(const void* begin);
int _Unwind_RaiseException(void* exception);

void __register_frame(const void* begin) {
  add(begin);
}
void __deregister_frame(const void* begin) {
  remove(begin);
}
void __register_frame_info(const void* begin, void*) {
  add(begin);
}
void* __deregister_frame_info(const void* begin) {
  remove(begin);
  return nullptr;
}
int _Unwind_RaiseException(void*) {
  std::abort();
}

const void* _Unwind_Find_FDE(const void* pc, void*) {
  const auto address = reinterpret_cast<std::uint64_t>(pc);
  const auto above = tree().upper_bound(address);
  if (above == tree().begin() || address >= std::prev(above)->second.end) return nullptr;
  const void* found = nullptr;
  each_entry(std::prev(above)->second.section, [&](const std::uint8_t* fde) {
    const auto begin = read<std::uint64_t>(fde + 8);
    if (address >= begin && address < begin + read<std::uint64_t>(fde + 16)) found = fde;
  });
  return found;
}

}  // extern "C"
