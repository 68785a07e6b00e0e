#include "tests/readers/openj9/text.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace openj9_reader {
namespace {

constexpr const char* kTypes[] = {"Event", "Exception", "Entry", "Entry", "Exit",   "Exit",     "Mem",  "Mem",
                                  "Debug", "Debug",     "Perf",  "Perf",  "Assert", "AppTrace", "ERROR"};
constexpr const char* kArchitectures[] = {"Unknown", "x86",   "S390",   "Power",  "IA64",
                                          "S390X",   "AMD64", "RISC-V", "AArch64"};
constexpr const char* kSubtypes[] = {"i486",       "i586",    "Pentium II", "Pentium III",   "Merced",
                                     "McKinley",   "PowerRS", "PowerPC",    "GigaProcessor", "ESA",
                                     "Pentium IV", "T-Rex",   "Opteron",    "RV64G",         "Armv8-A"};
constexpr int kError = 14, kApplication = 13;

std::string digits(std::uint64_t value, std::size_t width) {
  std::string text = std::to_string(value);
  return std::string(text.size() < width ? width - text.size() : 0, '0') + text;
}

std::string hex(std::uint64_t value, std::size_t width) {
  std::string text;
  for (; value != 0 || text.size() < width; value >>= 4)
    text.insert(text.begin(), "0123456789abcdef"[value & 15]);
  return "0x" + text;
}

std::string padded(std::string text, std::size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string thread_id(const File& file, std::uint64_t thread) {
  return hex(thread, 2 * std::size_t{file.header.pointer_size});
}

std::string section(const std::vector<std::string>& lines, const char* indent) {
  std::string text;
  for (const std::string& line : lines) text += indent + line + "\n";
  return text;
}

std::string threads(const File& file) {
  std::map<std::uint64_t, std::set<std::string>> all;
  for (const Record& record : file.records) all[record.thread].insert(record.thread_name);
  std::string text = "Active threads\n";
  for (const auto& [thread, names] : all) {
    text += "        " + thread_id(file, thread) + (names.size() > 1 ? "  (id reused)\n" : "");
    const std::string indent(names.size() > 1 ? 12 + 2 * std::size_t{file.header.pointer_size} : 2, ' ');
    for (const std::string& name : names) text += indent + name + "\n";
  }
  return text;
}

}  // namespace

std::string time_of(const File& file, std::uint64_t ticks) {
  const auto scale = static_cast<std::int64_t>(file.ticks_per_ms());
  if (scale == 0) return "no time";
  const auto since = static_cast<std::int64_t>(ticks - file.header.start_ticks);
  const std::int64_t ms = since / scale + static_cast<std::int64_t>(file.header.start_ms);
  const std::int64_t ns = ms % 1000 * 1'000'000 + since % scale * 1'000'000 / scale;
  const auto part = [&](std::int64_t unit, std::int64_t most) {
    return digits(static_cast<std::uint64_t>(ms / unit % most), 2);
  };
  if (ns < 0) return "a time before the trace";
  return part(3'600'000, 24) + ":" + part(60'000, 60) + ":" + part(1000, 60) + "." +
         digits(static_cast<std::uint64_t>(ns), 9);
}

std::string summary(const File& file) {
  const Header& header = file.header;
  const auto name_of = [](auto& names, std::uint32_t at) { return at < std::size(names) ? names[at] : "?"; };
  return "                Trace Summary\n\nService level:\n        " + header.service +
         "\n\nJVM startup options:\n" + section(header.startup, "") +
         "Processor information:\n        Arch family:         " +
         name_of(kArchitectures, header.architecture) +
         "\n        Processor Sub-type:  " + name_of(kSubtypes, header.subtype) +
         "\n        Num Processors:      " + std::to_string(header.processors) +
         "\n        Big Endian:          " + (header.says_big != 0 ? "true" : "false") +
         "\n        Word size:           " + std::to_string(header.word_size) +
         "\n        Using Trace Counter: J9 timer\n\nTrace activation information::\n" +
         section(header.active, "        ") +
         "\nTrace file header:\n        JVM start time: " + time_of(file, header.start_ticks) +
         "\n        Generations:    " + std::to_string(header.generations) +
         "\n        Pointer size:   " + std::to_string(header.pointer_size) + "\n\n" + threads(file) + "\n\n";
}

// Raw bytes of what is in no file.
static Template unknown(const Entry& entry, const Catalogue& catalogue) {
  const bool is_component_known = catalogue.components.contains(entry.component);
  Template row;
  row.type = is_component_known ? kError : kApplication;
  row.text = is_component_known ? "This tracepoint's format string was not available in dat file."
                                : "raw parameter data [" + entry.parameters + "]";
  row.pieces = {{row.text}};
  return row;
}

Text text_of(const File& file, const Catalogue& catalogue) {
  Text out{summary(file), {}};
  out.text += "                Trace Formatted Data \n\nTime (UTC)          " +
              padded("Thread ID", 2 + 2 * std::size_t{file.header.pointer_size}) +
              " Tracepoint ID       Type        Tracepoint Data\n";
  std::map<std::uint64_t, std::size_t> depths;
  const Entry* before = nullptr;
  for (const Entry& entry : file.entries) {
    Template none;
    const Template* row = catalogue.find(entry.component, entry.number);
    const std::string id = entry.component + (entry.container.empty() ? "" : "(" + entry.container + ")") +
                           "." + std::to_string(entry.number);
    if (row == nullptr) {
      row = &(none = unknown(entry, catalogue));
      out.violations.push_back({entry.at, Rule::kTemplate, id + " is in no file"});
    }
    std::size_t& depth = depths[entry.thread];
    if ((row->type == 4 || row->type == 5) && depth != 0) --depth;
    std::string words = row == &none ? row->text : message(file, entry, *row, out.violations);
    if (words.starts_with('*')) words.insert(0, " ");
    out.text += time_of(file, entry.ticks) +
                (before == nullptr || before->thread != entry.thread ? " *" : "  ") +
                thread_id(file, entry.thread) + " " + padded(id, 19) + " " + padded(kTypes[row->type], 10) +
                std::string(2 * depth, ' ') + words + "\n";
    if (row->type == 2 || row->type == 3) ++depth;
    before = &entry;
  }
  return out;
}

}  // namespace openj9_reader
