// An input is what an ITT emitter reports: a head of four bytes, a table of lines, then events, 16 bytes
// each, in which small numbers choose ids, texts and addresses; some have a field of any value instead.
#include "agent/intake/itt/events.hpp"
#include "agent/intake/itt/listener.hpp"
#include "tests/fuzz/ground.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/unit/agent/itt_report.hpp"

namespace {

namespace itt = jitquill::intake::itt;
using itt_spelled::Structure;

constexpr std::uint64_t kLines = fuzz::kData;
constexpr std::size_t kMostLinesSize = fuzz::kPage;
constexpr std::uint64_t kLongText = fuzz::kData + fuzz::kPage;  // up to the end of the data: no NUL
constexpr unsigned kUnload = 14;
constexpr unsigned kPlace = 17;

// Of the structures of all versions.
struct Shape {
  unsigned event;
  std::size_t parent_at;
  std::size_t class_at;
  std::size_t file_at;
};
constexpr Shape kShapes[] = {
    {itt_spelled::kV1.event, 0, itt_spelled::kV1.class_at, itt_spelled::kV1.file_at},
    {itt_spelled::kV2.event, 0, itt_spelled::kV2.class_at, itt_spelled::kV2.file_at},
    {itt_spelled::kV3.event, 0, itt_spelled::kV3.class_at, itt_spelled::kV3.file_at},
    {itt_spelled::kInlined.event, itt_spelled::kInlined.parent_at, itt_spelled::kInlined.class_at,
     itt_spelled::kInlined.file_at},
    {15, 0, 48, 56},    // an update has the shape of the first version
    {kPlace, 0, 0, 0},  // of a place: | address | size | kind |
    {kUnload, 0, 0, 0},
    {2, 0, 0, 0},
    {99, 0, 0, 0},
};

std::uint64_t text(std::uint8_t choice) {
  static constexpr const char* kTexts[] = {nullptr, "", "run", "Task", "task.src", "a name with blanks"};
  const unsigned which = choice % 10;
  if (which < std::size(kTexts)) return reinterpret_cast<std::uint64_t>(kTexts[which]);
  if (which == 6) return kLongText;             // 3 pages
  if (which == 7) return fuzz::kDataEnd - 3;    // runs into nowhere
  return which == 8 ? fuzz::kNowhere : choice;  // no page, or the first one
}

std::uint64_t address(std::uint8_t choice, std::uint16_t offset) {
  if (choice < 0xE0) return fuzz::kCode + offset;
  if (choice < 0xE8) return 0;
  if (choice < 0xF0) return fuzz::kNowhere - (offset & 0xFF);
  return choice < 0xF8 ? ~std::uint64_t{offset} : std::uint64_t{offset};
}

std::uint32_t wide(std::uint8_t choice) {
  static constexpr std::uint32_t kWide[] = {0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 1u << 20, (1u << 20) + 1};
  return choice < 0xF0 ? choice : kWide[choice % std::size(kWide)];
}

using UsedIds = std::array<bool, 256>;

// | event | id | parent | name | class | file | address 3 | size 2 | lines 2 | odd 3 |
void next_event(fuzz::Input& input, UsedIds& used) {
  const Shape& shape = kShapes[input.byte() % std::size(kShapes)];
  Structure s;
  const std::uint8_t id = input.byte();
  used[id] = true;
  s.put(0, std::uint32_t{id});
  const std::uint8_t parent = input.byte();
  s.put(8, text(input.byte()));
  const std::uint64_t class_name = text(input.byte());
  const std::uint64_t file = text(input.byte());
  const std::uint8_t place = input.byte();
  const std::uint64_t code = address(place, input.next<std::uint16_t>());
  const std::uint32_t size = wide(input.byte()) + input.byte() % 2;
  s.put(16, code).put(24, size).put(28, wide(input.byte())).put(32, kLines + input.byte() * 8);
  if (shape.parent_at != 0) s.put(shape.parent_at, std::uint32_t{parent});
  if (shape.class_at != 0) s.put(shape.class_at, class_name).put(shape.file_at, file);
  if (shape.event == kPlace) s.put(0, code).put(8, size).put(12, std::uint32_t{parent % 3u});
  const std::uint8_t odd = input.byte();
  const auto raw = input.next<std::uint16_t>();
  if (odd >= 0xC0) s.put(8 + odd % 7u * 8, ~std::uint64_t{0} >> (raw & 63) ^ raw);
  fuzz::run_on(1 + (raw >> 8) % 32);
  const bool is_cut = odd == 0xBF;  // by the end of its page
  itt::hear(shape.event, is_cut ? fuzz::at(fuzz::kNowhere - 8) : s.bytes.data());
}

void forget_all(const UsedIds& used) {
  fuzz::stop_failing();
  itt::listener().tell_all_trees();
  for (std::uint32_t id = 1; id < used.size(); ++id) {
    if (used[id]) itt::hear(kUnload, &id);
  }
  const Structure anywhere;  // looks at every address that is remembered
  itt::hear(kPlace, anywhere.bytes.data());
  itt::listener() = itt::Listener();
  constexpr std::size_t kTables = 2;
  fuzz::require(fuzz::free_all() <= kTables, "what is forgotten leaves no memory behind");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input({data, size});
  fuzz::clear_host_memory();
  std::memset(fuzz::at(kLongText), 'x', fuzz::kDataEnd - kLongText);
  fuzz::Setting setting;
  setting.wants_inlining = input.byte() % 4 != 3;
  setting.allocations = input.byte();
  fuzz::begin(setting);
  const fuzz::Bytes lines = input.take(std::min<std::size_t>(input.next<std::uint16_t>(), kMostLinesSize));
  if (!lines.empty()) std::memcpy(fuzz::at(kLines), lines.data(), lines.size());
  UsedIds used{};
  while (!input.is_empty()) next_event(input, used);
  fuzz::tell_what_was_put_off();
  forget_all(used);
  return 0;
}
