// An input is what a program tells OProfile's agent library: how many allocations succeed, a table of lines,
// then calls, in which small numbers choose addresses and texts.
#include "agent/intake/opagent/listener.hpp"
#include "tests/fuzz/ground.hpp"
#include "tests/fuzz/host_memory.hpp"
#include "tests/fuzz/input.hpp"

namespace {

namespace opagent = jitquill::intake::opagent;

constexpr std::uint64_t kRows = fuzz::kData;
constexpr std::uint64_t kLongText = fuzz::kData + fuzz::kPage;  // up to the end of the data: no NUL
constexpr std::size_t kMostRows = 64;

// As OProfile's header has it.
struct Row {
  std::uint64_t address;
  std::uint32_t line;
  std::uint32_t padding;
  std::uint64_t file;
};

std::uint64_t text(std::uint8_t choice) {
  static constexpr const char* kTexts[] = {nullptr, "", "run", "Task", "task.src", "a name with blanks"};
  const unsigned which = choice % 10;
  if (which < std::size(kTexts)) return reinterpret_cast<std::uint64_t>(kTexts[which]);
  if (which == 6) return kLongText;             // 3 pages
  if (which == 7) return fuzz::kDataEnd - 3;    // runs into nowhere
  return which == 8 ? fuzz::kNowhere : choice;  // no page, or the first one
}

std::uint64_t address(fuzz::Input& input) {
  const std::uint8_t choice = input.byte();
  const auto offset = input.next<std::uint16_t>();
  if (choice < 0xE0) return fuzz::kCode + offset % 64 * 64;
  if (choice < 0xE8) return 0;
  if (choice < 0xF0) return fuzz::kNowhere - (offset & 0xFF);
  return choice < 0xF8 ? ~std::uint64_t{offset} : std::uint64_t{offset};
}

std::uint32_t size(std::uint8_t choice) {
  static constexpr std::uint32_t kWide[] = {0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0, 1u << 20};
  return choice < 0xF0 ? choice : kWide[choice % std::size(kWide)];
}

// | address 3 | line | file |
void put_rows(fuzz::Input& input) {
  const std::size_t count = input.byte() % kMostRows;
  for (std::size_t i = 0; i < count; ++i) {
    Row row{};
    row.address = address(input);
    const std::uint8_t line = input.byte();
    row.line = line < 0xF0 ? line : ~std::uint32_t{line};
    row.file = text(input.byte());
    std::memcpy(fuzz::at(kRows + i * sizeof row), &row, sizeof row);
  }
}

// | call | text | address 3 | address 3 | size | rows | first row |
void next_call(fuzz::Input& input) {
  const std::uint8_t call = input.byte();
  const auto* const name = reinterpret_cast<const char*>(text(input.byte()));
  const std::uint64_t where = address(input), from = address(input);
  const auto* const bytes = reinterpret_cast<const void*>(call % 8 == 0 ? 0 : call % 8 == 1 ? from : where);
  const std::uint32_t count = size(input.byte());
  const std::uint8_t first = input.byte();
  switch (call % 3) {
    case 0:
      return opagent::listener().code(name, where, bytes, count);
    case 1:
      return opagent::listener().lines(
          bytes, count, first == 0xFF ? nullptr : fuzz::at(kRows + first % kMostRows * sizeof(Row)));
    default:
      return opagent::listener().unload(where);
  }
}

void forget_all() {
  fuzz::stop_failing();
  for (std::uint64_t i = 0; i < 64; ++i) opagent::listener().unload(fuzz::kCode + i * 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t count) {
  fuzz::Input input({data, count});
  fuzz::clear_host_memory();
  std::memset(fuzz::at(kLongText), 'x', fuzz::kDataEnd - kLongText);
  fuzz::Setting setting;
  setting.allocations = input.byte();
  fuzz::begin(setting);
  put_rows(input);
  while (!input.is_empty()) next_call(input);
  forget_all();
  opagent::listener() = opagent::Listener();
  (void)fuzz::free_all();
  return 0;
}
