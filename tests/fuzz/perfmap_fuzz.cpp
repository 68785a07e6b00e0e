// An input is a text like /proc/self/maps, and behind its first NUL a perf map, in which each further NUL is
// a pause of the runtime that writes it. A line `!` at the front: memory runs out after as many allocations
// as the byte behind it says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <string_view>

#include "agent/intake/perfmap/follower.hpp"
#include "agent/intake/perfmap/map_line.hpp"
#include "tests/fuzz/ground.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/input.hpp"
#include "writer/model/code.hpp"

namespace {

namespace perfmap = jitquill::intake::perfmap;

class MemoryFile {
 public:
  MemoryFile() : descriptor_(memfd_create("map", MFD_CLOEXEC)) {
    fuzz::require(descriptor_ >= 0, "there is memory for a file");
    std::snprintf(path_, sizeof path_, "/proc/self/fd/%d", descriptor_);
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int descriptor() const { return descriptor_; }
  const char* path() const { return path_; }
  void add(std::string_view text) const {
    const auto size = static_cast<ssize_t>(text.size());
    fuzz::require(write(descriptor_, text.data(), text.size()) == size, "a file can be written");
  }

 private:
  int descriptor_;
  char path_[32];
};

std::string_view take_part(std::string_view& text) {
  const std::string_view part = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

template <class See>
void for_each_line(std::string_view text, See see) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    see(line);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

void read_ranges(std::string_view text) {
  const MemoryFile maps;
  maps.add(text);
  jitquill::intake::Block room(256);
  if (!room) return;
  jitquill::intake::CodeRanges ranges;
  ranges.refresh(maps.descriptor(), room);
  for_each_line(text, [&](std::string_view line) {
    const auto range = jitquill::code_range(line);
    if (range) (void)ranges.has(range->start, range->end - range->start);
  });
  ranges.forget();
}

void read_lines(std::string_view text) {
  for_each_line(text, [](std::string_view line) {
    const auto read = perfmap::read_line(line);
    if (!read) return;
    fuzz::require(read->start != 0 && jitquill::is_placeable(read->start, read->size),
                  "a line is of what can be code");
    fuzz::require(!read->name.empty() && read->name.end() == line.end(), "a name is the line's rest");
  });
}

void follow(std::string_view text) {
  const MemoryFile map;
  perfmap::Follower follower;
  if (!follower.open(map.path())) return;
  while (!text.empty()) {
    map.add(take_part(text));
    while (follower.step() == perfmap::Follower::Progress::kMore) {
    }
  }
  follower.last_step();
  follower.close();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::clear_host_memory();
  fuzz::Setting setting;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.size() > 1 && text.front() == '!') {
    setting.allocations = static_cast<std::uint8_t>(text[1]);
    text.remove_prefix(2);
  }
  fuzz::begin(setting);
  read_ranges(take_part(text));
  read_lines(text);
  follow(text);
  return 0;
}
