// Names that a library does not export are found in its file, and only in its own.
#include "agent/intake/file_symbols.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "agent/base/loaded_objects.hpp"
#include "tests/support/temp_folder.hpp"

namespace {

using jitquill::ElfObject;
using jitquill::intake::FileSymbol;
using jitquill::intake::find_in_file;

class FileSymbols : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(NAMED_MODULE, file_);
    library_ = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  void TearDown() override { dlclose(library_); }

  bool find(const std::string& path, std::span<FileSymbol> symbols) {
    bool found = false;
    jitquill::for_each_loaded_object([&](const ElfObject& object) {
      if (object.path() == path) found = find_in_file(object, symbols);
    });
    return found;
  }
  // By rename, so that what is mapped stays.
  void replace(const std::string& by) {
    std::filesystem::copy_file(by, file_ + ".new");
    std::filesystem::rename(file_ + ".new", file_);
  }

  test_support::TempFolder folder_;
  const std::string file_ = folder_.file("named.so");
  void* library_ = nullptr;
  FileSymbol symbols_[2] = {{"hidden_function"}, {"hidden_variable"}};
};

TEST_F(FileSymbols, AreFoundWhereTheyLie) {
  auto* const where = reinterpret_cast<void* (*)(int)>(dlsym(library_, "where_hidden"));
  ASSERT_NE(where, nullptr);
  ASSERT_TRUE(find(file_, symbols_));
  EXPECT_EQ(symbols_[0].address, reinterpret_cast<std::uint64_t>(where(0)));
  EXPECT_EQ(symbols_[1].address, reinterpret_cast<std::uint64_t>(where(1)));
}

TEST_F(FileSymbols, AreAllFoundOrNone) {
  symbols_[1].name = "hidden_function_of_another";
  EXPECT_FALSE(find(file_, symbols_));
  symbols_[1].name = "function";  // the end of one is no name
  EXPECT_FALSE(find(file_, symbols_));
}

TEST_F(FileSymbols, AreThoseOfTheLoadedFileOnly) {
  replace(OTHER_MODULE);
  EXPECT_FALSE(find(file_, symbols_));
  replace(NAMED_MODULE);
  EXPECT_TRUE(find(file_, symbols_));
  std::filesystem::remove(file_);
  EXPECT_FALSE(find(file_, symbols_));
}

TEST_F(FileSymbols, OfABrokenFileAreNone) {
  const auto size = std::filesystem::file_size(NAMED_MODULE);
  constexpr std::uintmax_t kParts = 16;  // less than one of them at the end may be nothing that is read
  for (std::uintmax_t left = 0; left <= size - size / kParts; left += size / kParts) {
    std::filesystem::copy_file(NAMED_MODULE, file_ + ".cut");
    std::filesystem::resize_file(file_ + ".cut", left);
    std::filesystem::rename(file_ + ".cut", file_);
    EXPECT_FALSE(find(file_, symbols_)) << left;
  }
}

TEST_F(FileSymbols, OfTheProgramItself) {
  FileSymbol main[] = {{"main"}};
  EXPECT_TRUE(find("", main));
  EXPECT_NE(main[0].address, 0u);
}

}  // namespace
