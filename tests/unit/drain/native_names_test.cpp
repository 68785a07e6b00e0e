// What native functions are called: from the symbol tables of the files that are mapped.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/base/text_pieces.hpp"
#include "agent/drain/functions.hpp"
#include "agent/drain/native_modules.hpp"
#include "agent/lanes/wanted_stacks.hpp"
#include "tests/unit/writer/temporary_folder.hpp"

extern "C" {
[[gnu::noinline]] int native_one(int x) {
  return x + 1;
}
[[gnu::noinline]] int native_two(int x) {
  return x + 2;
}
}

namespace jitquill::drain {
namespace {

std::uint64_t address_of(int (*function)(int)) {
  return reinterpret_cast<std::uint64_t>(function);
}

std::string name_of(Functions& functions, FunctionNumber wanted) {
  static std::vector<std::string> names;
  functions.define_new([&](const FunctionInfo& info) {
    names.resize(std::max<std::size_t>(names.size(), info.number + 1));
    names[info.number] = info.name;
  });
  return names.at(wanted);
}

TEST(NativeNames, AreThoseOfTheContainingSymbol) {
  Functions functions;
  functions.watch_this_process();
  const std::uint64_t one = address_of(native_one);
  const FunctionNumber number = functions.by_address(one + 1, 1);
  EXPECT_EQ(functions.by_address(one, 1), number);
  EXPECT_NE(functions.by_address(address_of(native_two), 1), number);
  EXPECT_EQ(name_of(functions, number), "native_one");
  EXPECT_EQ(functions.nameless(), 0u);
}

// Whether or not a pattern names it: who is sampled was not asked.
TEST(NativeNames, OfSamplesAreThoseOfAllCode) {
  Functions functions;
  functions.watch_this_process();
  functions.set_patterns("nothing");
  const std::uint64_t one = address_of(native_one);
  const Functions::Place place = functions.place_of(one + 1, 1);
  EXPECT_EQ(place.offset, 1u);
  EXPECT_EQ(functions.place_of(one, 1).function, place.function);
  EXPECT_EQ(name_of(functions, place.function), "native_one");
  EXPECT_EQ(functions.nameless(), 0u);
}

// What has no symbol is one function of each file, and all else one.
TEST(NativeNames, OfSamplesStandInForCodeThatHasNone) {
  Functions functions;
  functions.watch_this_process();
  static const std::uint8_t nowhere[64] = {};
  const auto address = reinterpret_cast<std::uint64_t>(nowhere);
  const Functions::Place place = functions.place_of(address, 1);
  EXPECT_EQ(functions.place_of(address + 7, 1).function, place.function);
  EXPECT_EQ(place.offset, 0u);
  EXPECT_EQ(name_of(functions, place.function), "[unknown]");
  const auto kernels = reinterpret_cast<std::uint64_t>(getauxval(AT_SYSINFO_EHDR));
  if (kernels == 0) GTEST_SKIP() << "the kernel maps no object here";
  const Functions::Place in_vdso = functions.place_of(kernels + 64, 1);
  EXPECT_EQ(in_vdso.offset, 64u);
  EXPECT_EQ(name_of(functions, in_vdso.function), "[vdso]");
  EXPECT_EQ(functions.nameless(), 0u);
}

TEST(NativeNames, AreNotReadForStacksWhileNoNativeFunctionIsTraced) {
  Functions functions;
  functions.watch_this_process();
  functions.want_stacks("*");
  EXPECT_TRUE(lanes::is_stack_wanted(address_of(native_one)));
  functions.expect_natives();
  functions.want_stacks("*");
  EXPECT_FALSE(lanes::is_stack_wanted(address_of(native_one)));  // it calls no hook
}

TEST(NativeNames, OfLibrariesAreThoseThatTheyExport) {
  Functions functions;
  functions.watch_this_process();
  const auto at = reinterpret_cast<std::uint64_t>(::dlsym(RTLD_DEFAULT, "strtoull"));
  const std::string name = name_of(functions, functions.by_address(at + 1, 1));
  EXPECT_NE(name.find("strtou"), name.npos) << name;  // several are one
}

TEST(NativeNames, NothingIsNamedWhereNoFileIs) {
  Functions functions;
  functions.watch_this_process();
  EXPECT_EQ(name_of(functions, functions.by_address(0x1234, 1)), "0x1234");
  EXPECT_EQ(functions.nameless(), 1u);
}

TEST(NativeNames, DecideWhatIsHidden) {
  Functions functions;
  functions.watch_this_process();
  functions.set_patterns("*,!*_one");
  EXPECT_EQ(functions.by_address(address_of(native_one), 1), Functions::kHidden);
  const FunctionNumber two = functions.by_address(address_of(native_two), 1);
  EXPECT_NE(two, Functions::kHidden);
  functions.set_patterns("native_*");
  EXPECT_NE(functions.by_address(address_of(native_one), 1), Functions::kHidden);
  EXPECT_EQ(functions.by_address(address_of(native_two), 1), two);
}

TEST(NativeNames, AreShownAsTheirSourceHasThemOnRequest) {
  const auto at = reinterpret_cast<std::uint64_t>(
      static_cast<std::string_view (*)(std::string_view, std::size_t)>(&jitquill::first));
  const std::string linked = "_ZN8jitquill5firstESt17basic_string_viewIcSt11char_traitsIcEEm";
  const std::string shown =
      "jitquill::first(std::basic_string_view<char, std::char_traits<char> >, unsigned long)";
  for (const bool demangles : {false, true}) {
    Functions functions;
    functions.watch_this_process();
    functions.set_demangling(demangles);
    functions.set_patterns("jitquill::f*");
    EXPECT_EQ(functions.by_address(at, 1) == Functions::kHidden, !demangles);
    functions.set_patterns("_ZN8jitquill5*");
    const FunctionNumber number = functions.by_address(at, 1);
    EXPECT_EQ(name_of(functions, number), demangles ? shown : linked);
    Bytes state;
    functions.put_all(state);
    Functions recovered;
    ByteSource source(state.view());
    ASSERT_TRUE(recovered.apply(source));
    recovered.set_patterns("jitquill::f*");
    EXPECT_EQ(recovered.by_address(at, 1) == Functions::kHidden, !demangles);
  }
}

// As `jitquill recover`, which has no such process.
TEST(NativeNames, ComeAlongInTheState) {
  Functions before;
  before.watch_this_process();
  before.set_patterns("native_one");
  const FunctionNumber one = before.by_address(address_of(native_one) + 1, 1);
  Bytes state;
  before.put_all(state);
  Functions after;
  ByteSource source(state.view());
  ASSERT_TRUE(after.apply(source));
  EXPECT_TRUE(source.is_at_end());
  EXPECT_EQ(after.by_address(address_of(native_one) + 2, 1), one);
  EXPECT_EQ(after.by_address(address_of(native_two), 1), Functions::kHidden);
  Bytes news;
  before.put_new(news);
  EXPECT_EQ(news.size(), 5u);  // nothing of all four, and whether names are demangled
}

// As by dlclose() and dlopen().
TEST(NativeModules, AreToldAsGoneBeforeOthersThatLieThere) {
  const TemporaryFolder folder;
  constexpr std::size_t kSize = 4096;
  constexpr int kCode = PROT_READ | PROT_EXEC;
  void* at = nullptr;
  NativeModules modules;
  modules.watch_this_process();
  std::vector<std::string> told;
  const auto tell = [&](const ModuleNews& news) {
    if (news.address == reinterpret_cast<std::uint64_t>(at))
      told.push_back(news.path.empty() ? "gone" : std::string(news.path.substr(news.path.rfind('/') + 1)));
  };
  const auto map = [&](const char* name, int flags) {
    const std::string path = folder.path / name;
    std::filesystem::copy_file("/proc/self/exe", path);
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    at = mmap(at, kSize, kCode, MAP_PRIVATE | flags, file, 0);
    close(file);
    ASSERT_NE(at, MAP_FAILED);
  };
  map("first", 0);
  modules.look();
  modules.tell_new(tell);
  map("second", MAP_FIXED);
  modules.end_gone(10);
  map("third", MAP_FIXED);
  modules.end_gone(20);
  modules.tell_new(tell);
  EXPECT_EQ(told, (std::vector<std::string>{"first", "gone", "second", "gone", "third"}));
  munmap(at, kSize);
}

class Symbols : public testing::Test {
 protected:
  Symbols() { std::filesystem::copy_file("/proc/self/exe", copy); }
  TemporaryFolder folder;
  const std::string copy = folder.path / "program";
};

TEST_F(Symbols, OfAnotherFileAreNotTaken) {
  FileIdentity identity;
  identity.build_id_size = 20;
  SymbolTable table;
  EXPECT_FALSE(table.read(copy.c_str(), identity));
  identity.build_id_size = 0;
  identity.inode = 1;
  EXPECT_FALSE(table.read(copy.c_str(), identity));
}

// Every byte of the headers may be wrong.
TEST_F(Symbols, OfADamagedFileAreNoDanger) {
  FileIdentity identity;
  struct stat status {};
  ASSERT_EQ(::stat(copy.c_str(), &status), 0);
  identity.inode = status.st_ino;
  const int file = ::open(copy.c_str(), O_RDWR | O_CLOEXEC);
  Elf64_Ehdr header;
  ASSERT_EQ(::pread(file, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  const auto try_at = [&](off_t at, std::uint8_t value) {
    std::uint8_t before = 0;
    if (::pread(file, &before, 1, at) != 1) return;
    (void)::pwrite(file, &value, 1, at);
    SymbolTable table;
    if (table.read(copy.c_str(), identity)) (void)table.find(0x1000);
    (void)::pwrite(file, &before, 1, at);
  };
  for (off_t at = 0; at < static_cast<off_t>(sizeof header); ++at) try_at(at, 0xFF);
  const auto sections = static_cast<off_t>(header.e_shoff);
  const off_t end = sections + off_t{header.e_shnum} * off_t{sizeof(Elf64_Shdr)};
  for (off_t at = sections; at < end; at += 7) try_at(at, 0x7F);
  ::close(file);
  SymbolTable table;
  EXPECT_TRUE(table.read(copy.c_str(), identity));
}

}  // namespace
}  // namespace jitquill::drain
