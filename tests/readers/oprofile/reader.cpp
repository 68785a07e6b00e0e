#include "tests/readers/oprofile/reader.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/readers/oprofile/source.hpp"

namespace oprofile_reader {
namespace {

struct RuleText {
  const char* name;
  const char* consequence;
};

constexpr RuleText kTexts[] = {
#define RULE(id, name, consequence) {name, consequence},
#include "tests/readers/oprofile/rules.def"
#undef RULE
};

constexpr std::uint64_t kFixedHeader = 8;
constexpr std::uint64_t kNoteWords = 6, kHeadWords = 3, kSampleWords = 4;

struct KindRow {
  std::string_view magic;
  Kind kind;
  void (*read)(Source& source);
};

constexpr KindRow kKinds[] = {
    {"opnd", Kind::kNotes, &read_notes},
    {"opsd", Kind::kSamples, &read_samples},
    {"ophd", Kind::kHashMap, &read_hash_map},
    {"opdb", Kind::kDatabase, &read_database},
};

const KindRow* kind_of(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kFixedHeader) return nullptr;
  const std::string magic(bytes.begin(), bytes.begin() + 4);
  for (const KindRow& row : kKinds) {
    if (magic == row.magic) return &row;
  }
  return nullptr;
}

// | magic 4 | major | minor | width | reserved | significance of each byte of a word |
bool read_header(Source& source) {
  File& file = source.file();
  file.major = source.byte(4);
  file.minor = source.byte(5);
  const std::uint64_t width = source.byte(6);
  if (file.major != 1) source.report(4, Rule::kVersion, "major " + std::to_string(file.major));
  if (width == 0) source.report(6, Rule::kWidth, "0 bytes");
  if (source.byte(7) != 0) source.report(7, Rule::kReserved, std::to_string(source.byte(7)));
  if (file.major != 1 || width == 0) return false;
  if (source.size() < kFixedHeader + width) {
    source.report(source.size(), Rule::kHeader, "no byte order");
    return false;
  }
  std::vector<bool> seen(width);
  for (std::uint64_t i = 0; i < width; ++i) {
    const std::uint8_t significance = source.byte(kFixedHeader + i);
    if (significance >= width || seen[significance]) {
      source.report(kFixedHeader + i, Rule::kPermutation, std::to_string(significance));
      return false;
    }
    seen[significance] = true;
    file.order.push_back(significance);
  }
  return true;
}

// Which words of a note its type has no use for.
std::string_view unused_words(std::uint64_t type) {
  switch (type) {
    case 1:  // fork: address is the new process
      return "123";
    case 2:  // map
    case 4:  // exec
      return "";
    case 8:  // drop modules
      return "01234";
    case 16:  // exit
      return "0123";
    default:
      return "?";
  }
}

}  // namespace

Word Source::word(std::uint64_t at) {
  Word word{0, true};
  bool is_wide = false;
  for (std::uint64_t i = 0; i < width(); ++i) {
    const std::uint64_t byte = bytes_[at + i];
    word.is_nil = word.is_nil && byte == 0xFF;
    if (file_.order[i] < 8) word.value |= byte << 8 * file_.order[i];
    is_wide = is_wide || (file_.order[i] >= 8 && byte != 0);
  }
  if (is_wide && !word.is_nil) report(at, Rule::kWide, "does not fit 64 bits");
  return word;
}

void Source::report(std::uint64_t at, Rule rule, std::string reason) {
  file_.violations.push_back({at, rule, std::move(reason)});
}

void read_notes(Source& source) {
  const std::uint64_t w = source.width(), record = kNoteWords * w;
  std::uint64_t at = source.header_size();
  for (; source.size() - at >= record; at += record) {
    const Word path = source.word(at + 3 * w);
    const Note note{source.number(at),         source.number(at + w),
                    source.number(at + 2 * w), path.is_nil ? std::nullopt : std::optional(path.value),
                    source.number(at + 4 * w), source.number(at + 5 * w)};
    const std::string_view unused = unused_words(note.type);
    if (unused == "?") source.report(at + 5 * w, Rule::kNoteType, std::to_string(note.type));
    for (const char digit : unused) {
      const std::uint64_t place = at + static_cast<std::uint64_t>(digit - '0') * w;
      if (unused != "?" && source.number(place) != 0) source.report(place, Rule::kNoteUnused, "is not 0");
    }
    source.file().notes.push_back(note);
  }
  if (at != source.size() && !source.was_killed()) source.report(at, Rule::kNoteTorn, "");
}

void read_samples(Source& source) {
  const std::uint64_t w = source.width(), head = kHeadWords * w, sample = kSampleWords * w;
  std::uint64_t at = source.header_size();
  while (source.size() - at >= head) {
    Buffer buffer{source.number(at), source.number(at + 2 * w), {}};
    const std::uint64_t count = source.number(at + w);
    if (count > (source.size() - at - head) / sample) break;
    if (buffer.state > 2) source.report(at + 2 * w, Rule::kBufferState, std::to_string(buffer.state));
    at += head;
    for (std::uint64_t i = 0; i < count; ++i, at += sample) {
      buffer.samples.push_back(
          {source.number(at), source.number(at + w), source.number(at + 2 * w), source.number(at + 3 * w)});
      if (buffer.samples.back().count == 0) source.report(at + w, Rule::kSampleCount, "0");
    }
    source.file().buffers.push_back(std::move(buffer));
  }
  if (at != source.size() && !source.was_killed()) source.report(at, Rule::kBufferTorn, "");
}

const char* name(Rule rule) {
  return kTexts[static_cast<std::size_t>(rule)].name;
}

std::string describe(const std::vector<Violation>& violations) {
  constexpr std::size_t kShown = 20;
  std::ostringstream all;
  for (std::size_t i = 0; i < violations.size() && i < kShown; ++i) {
    const Violation& violation = violations[i];
    all << "offset 0x" << std::hex << violation.at << ": " << name(violation.rule) << ": " << violation.reason
        << " (" << kTexts[static_cast<std::size_t>(violation.rule)].consequence << ")\n";
  }
  if (violations.size() > kShown) all << std::dec << violations.size() - kShown << " more\n";
  return all.str();
}

File read(std::span<const std::uint8_t> bytes, const Expectations& expectations) {
  File file;
  Source source(bytes, expectations, file);
  const KindRow* const row = kind_of(bytes);
  if (row == nullptr) {
    source.report(0, Rule::kMagic, "");
    return file;
  }
  file.kind = row->kind;
  if (read_header(source)) row->read(source);
  return file;
}

File read_file(const std::string& path, const Expectations& expectations) {
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) {
    File file;
    file.violations.push_back({0, Rule::kFileRead, path});
    return file;
  }
  const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
  return read({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, expectations);
}

}  // namespace oprofile_reader
