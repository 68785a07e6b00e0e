// fuzz-seeds READER FOLDER OBJECT...: writes what a fuzzer starts from. OBJECT: object files of a compiler
// and what it linked, all of them files that a JIT could keep for debuggers.
#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "tests/fuzz/host_memory.hpp"
#include "tests/support/symfile.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/intake/beam_spelled.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Files = std::vector<Bytes>;
using beam_spelled::Spelled;

Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// A code section whose call is relocated, with a symbol without a size and one in no section.
Bytes small_symfile() {
  test_support::Symfile file;
  file.sections.push_back({".text", fuzz::kCode, Bytes(64, 0x90)});
  file.sections.push_back({".bss", fuzz::kCode + 0x100, {}, SHF_ALLOC, 32});
  file.sections[0].relocations = {{4, ELF64_R_INFO(1, R_X86_64_PC32), -4}};
  file.symbols = {{"f", 0, 16, 0}, {"g", 16, 0, 0}, {"alias", 16, 4, 0}};
  return file.build();
}

// The objects as they are, and loaded.
Files symfiles(const std::vector<std::string>& objects) {
  Files files{small_symfile()};
  for (const std::string& object : objects) {
    Bytes file = bytes_of(test_support::read_text(object));
    if (file.empty()) continue;
    files.push_back(file);
    constexpr std::uint64_t kGap = 0x100;
    test_support::load_at(file, fuzz::kCode, kGap);
    files.push_back(file);
  }
  return files;
}

const Files& entries() {
  static const Files kEntries = {
      bytes_of(std::string("\xC3", 1) + std::string(15, '\0')),
      bytes_of("\xF3\x0F\x1E\xFA\x55\x48\x89\xE5\x5D\xC3\x66\x90\xCC\xCC\xCC\xCC"),
      bytes_of("\xC3\x0F\x1F\x80" + std::string(4, '\0') + "\x66\x0F\x1F\x44" + std::string(4, '\0')),
      bytes_of("\xC3\x90\x48\x89\xC8\xC3"),
      bytes_of("\x48\x83\xEC\x08\xC3"),
      bytes_of("\xC2\x08\xC3")};
  return kEntries;
}

Files for_symfile(const std::vector<std::string>& objects) {
  Files files = symfiles(objects);
  files.insert(files.end(), entries().begin(), entries().end());
  return files;
}

Files for_perfmap(const std::vector<std::string>&) {
  const std::string maps =
      "200000000000-200000010000 rwxp 00000000 00:00 0 \n"
      "200000010000-200000011000 ---p 00000000 00:00 0 \n"
      "7f0000-7f1000 r-xs 00000000 00:01 7                 /memfd:jit (deleted)\n"
      "7f1000-7f2000 r-xp 00000000 00:00 0                 [anon:js]\n"
      "7f4000-7f5000 rwxs 00000000 00:01 7                 /dev/zero (deleted)\n"
      "7f8000-7f9000 r-xp 00000000 08:01 99                /usr/bin/node\n";
  std::string node;  // as node 20 writes it
  std::string erlang;
  for (unsigned i = 0; i < 8; ++i) {
    char line[96];
    std::snprintf(line, sizeof line, "2000000000%02x 1c JS:*step%u /tmp/a b.js:1:2\n", i * 32, i);
    node += line;
    std::snprintf(line, sizeof line, "0x2000000%05x 0x18 $lists:map/%u\n", 0x100 + i * 24, i);
    erlang += line;
  }
  const std::string odd =
      "200000010000 10 nowhere\n20000000fff0 11 over the end\n10 20 low\n\n\nxyz 1 f\n0 0 0\n";
  const std::string nul(1, '\0');
  return {bytes_of(maps + nul + node), bytes_of(maps + nul + node.substr(0, 30) + nul + node.substr(30)),
          bytes_of(nul + erlang + odd), bytes_of("!\x03" + maps + nul + erlang)};
}

// An event as itt_fuzz.cpp reads it: names "run", class "Task", file "task.src" where `with_texts`.
void put_event(Spelled& to, std::uint8_t which, std::uint8_t id, std::uint8_t parent, std::uint16_t offset,
               std::uint8_t size, std::uint8_t lines, std::uint16_t thread = 0) {
  to.put(which).put(id).put(parent);
  to.put<std::uint8_t>(2).put<std::uint8_t>(3).put<std::uint8_t>(4);
  to.put<std::uint8_t>(0).put(offset);
  to.put(size).put<std::uint8_t>(0).put(lines).put<std::uint8_t>(0);
  to.put<std::uint8_t>(0).put<std::uint16_t>(static_cast<std::uint16_t>(thread << 8));
}

Spelled itt_head(std::uint8_t allocations, std::initializer_list<std::uint32_t> lines) {
  Spelled head;
  head.put<std::uint8_t>(0)
      .put(allocations)
      .put(static_cast<std::uint16_t>(lines.size() * sizeof(std::uint32_t)));
  for (const std::uint32_t word : lines) head.put(word);
  return head;
}

Files for_itt(const std::vector<std::string>&) {
  enum : std::uint8_t { kV1, kV2, kV3, kInlined, kUpdate, kPlace, kUnload, kShutDown, kUnknown };
  Files files;
  for (std::uint8_t allocations = 0; allocations < 40; ++allocations) {
    Spelled ends = itt_head(allocations, {10, 1, 20, 2, 100, 3});
    put_event(ends, kV3, 1, 0, 0x40, 100, 3);
    put_event(ends, kInlined, 3, 2, 0x54, 10, 1);  // reported before the one that it is in
    put_event(ends, kInlined, 2, 1, 0x4A, 40, 2);
    put_event(ends, kV2, 4, 0, 0x200, 50, 2);
    put_event(ends, kUpdate, 1, 0, 0x400, 80, 2);
    put_event(ends, kPlace, 0, 0, 0x42, 4, 0);
    put_event(ends, kUnload, 1, 0, 0, 0, 0);
    put_event(ends, kShutDown, 0, 0, 0, 0, 0);
    files.push_back(ends.file);
  }
  Spelled starts = itt_head(0, {0, 1, 20, 2, 100, 3});
  for (std::uint8_t i = 0; i < 20; ++i) {
    put_event(starts, kV1, static_cast<std::uint8_t>(i + 1), 0, static_cast<std::uint16_t>(i * 64), 64, 2, i);
    put_event(starts, kInlined, 100, static_cast<std::uint8_t>(i + 1), static_cast<std::uint16_t>(i * 64), 8,
              1, i);
  }
  put_event(starts, kUnknown, 1, 0, 0, 0, 0);
  files.push_back(starts.file);
  return files;
}

// A call as opagent_fuzz.cpp reads it: of the function at `where`, whose bytes lie at `from`, both times 64
// bytes into the code.
void put_call(Spelled& to, std::uint8_t call, std::uint8_t name, std::uint16_t where, std::uint16_t from,
              std::uint8_t size) {
  to.put(call)
      .put(name)
      .put<std::uint8_t>(0)
      .put(where)
      .put<std::uint8_t>(0)
      .put(from)
      .put(size)
      .put<std::uint8_t>(0);
}

Files for_opagent(const std::vector<std::string>&) {
  enum : std::uint8_t {
    kCodeOnly = 0,
    kLinesOfCopy = 1,
    kUnload = 2,
    kCode = 3,
    kLines = 4,
    kCopy = 9,
    kLinesOnly = 16
  };
  constexpr std::uint8_t kName = 2, kFile = 4, kRows = 4;
  Files files;
  for (std::uint8_t allocations = 0; allocations < 30; ++allocations) {
    Spelled told;
    told.put(allocations).put(kRows);
    for (const unsigned place : {3u, 2u, 2u, 9u})
      told.put<std::uint8_t>(0)
          .put(static_cast<std::uint16_t>(place))
          .put(static_cast<std::uint8_t>(place))
          .put(kFile);
    put_call(told, kCode, kName, 2, 0, 200);
    put_call(told, kLines, kName, 2, 0, kRows);
    put_call(told, kCopy, kName, 9, 20, 64);
    put_call(told, kLinesOfCopy, kName, 0, 20, kRows);
    put_call(told, kCodeOnly, kName, 3, 0, 64);
    put_call(told, kLinesOnly, kName, 0, 0, kRows);
    put_call(told, kUnload, kName, 2, 0, 0);
    put_call(told, kCode, kName, 2, 0, 200);
    files.push_back(told.file);
  }
  return files;
}

using Steps = std::vector<std::array<std::uint8_t, 4>>;

// As gdb_fuzz.cpp reads it.
Bytes gdb_input(const Bytes& entry, std::uint8_t allocations, const Steps& steps, const Bytes& first,
                const Bytes& second) {
  constexpr std::size_t kEntrySize = 16;
  Spelled input;
  Bytes code = entry;
  code.resize(kEntrySize);
  input.put<std::uint8_t>(0).put(allocations);
  append(input.file, code);
  input.put(static_cast<std::uint8_t>(steps.size()));
  for (const auto& step : steps) append(input.file, {step.begin(), step.end()});
  input.put(static_cast<std::uint16_t>(first.size()));
  append(input.file, first);
  append(input.file, second);
  return input.file;
}

namespace step {
enum : std::uint8_t {
#define GDB_STEP(name) name,
#include "tests/fuzz/gdb_steps.def"
#undef GDB_STEP
};
}  // namespace step

Files for_gdb(const std::vector<std::string>& objects) {
  constexpr std::uint8_t kNull = 8;
  const Bytes& patchable = entries()[0];
  const Bytes& not_patchable = entries()[4];
  const Bytes beam = beam_spelled::module_file(fuzz::kCode + 0x4000);
  const Steps registering = {{step::file, 0, 0, 0},    {step::file, 1, 1, 0}, {step::load, 0, 0, 0},
                             {step::add, 0, 0, 0},     {step::add, 1, 0, 0},  {step::relocate, 0, 7, 0},
                             {step::finish, 0, 64, 0}, {step::drop, 1, 0, 0}, {step::add, 1, 0, 0}};
  const Steps listing = {{step::file, 2, 0, 0},         {step::file, 3, 1, 0},
                         {step::link, 2, 3, kNull},     {step::link, 3, kNull, 2},
                         {step::first, 2, 0, 0},        {step::look, 0, 0, 0},
                         {step::link, 2, kNull, kNull}, {step::come_again, 0, 0, 0},
                         {step::first, kNull, 0, 0},    {step::look, 0, 0, 0}};
  Files inputs;
  for (const Bytes& file : symfiles(objects)) {
    inputs.push_back(gdb_input(patchable, 0, registering, file, beam));
    inputs.push_back(gdb_input(not_patchable, 0, listing, beam, file));
    inputs.push_back(gdb_input(
        patchable, 12, {{step::file, 0, 0, 0}, {step::load, 0, 0, 0}, {step::add, 0, 0, 0}}, file, {}));
  }
  inputs.push_back(gdb_input(patchable, 0,
                             {{step::file, 0, 0, 6}, {step::add, 0, 0, 0}, {step::call, 1, 1, 9}}, beam, {}));
  return inputs;
}

struct Reader {
  const char* name;
  Files (*seeds)(const std::vector<std::string>& objects);
};
constexpr Reader kReaders[] = {{"symfile", for_symfile},
                               {"perfmap", for_perfmap},
                               {"itt", for_itt},
                               {"opagent", for_opagent},
                               {"gdb", for_gdb}};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::vector<std::string> objects(argv + 3, argv + argc);
  unsigned written = 0;
  for (const Reader& reader : kReaders) {
    if (reader.name != std::string(argv[1])) continue;
    for (const Bytes& seed : reader.seeds(objects)) {
      std::ofstream file(std::string(argv[2]) + "/seed-" + std::to_string(written++), std::ios::binary);
      file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
    }
  }
  return written != 0 ? 0 : 1;
}
