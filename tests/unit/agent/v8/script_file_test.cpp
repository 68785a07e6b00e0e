#include "agent/intake/v8/script_file.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace {

using jitquill::intake::v8::ScriptFile;

std::string file_of(const std::string& name) {
  const ScriptFile file(name);
  return file.path() == nullptr ? "(none)" : file.path();
}

TEST(V8ScriptFile, IsFoundBehindTheFunctionsName) {
  EXPECT_EQ(file_of("JS:*hot /home/me/a.js:6:13"), "/home/me/a.js");
  EXPECT_EQ(file_of("JS:^ /home/me/a.js:1:1"), "/home/me/a.js");
  EXPECT_EQ(file_of("JS:^SafeMap node:internal/per_context/primordials:408:16"),
            "node:internal/per_context/primordials");
  EXPECT_EQ(file_of("LazyCompile:*hot /home/me/a.js:6"), "/home/me/a.js");  // V8 10
  EXPECT_EQ(file_of("JS:*f evalmachine.<anonymous>:1:10"), "evalmachine.<anonymous>");
}

TEST(V8ScriptFile, KeepsBlanksOfEitherSide) {
  EXPECT_EQ(file_of("JS:*get size /home/me/my project/a b.js:6:13"), "/home/me/my project/a b.js");
  EXPECT_EQ(file_of("JS:*a /b /home/me/a.js:6:13"), "/home/me/a.js");
  EXPECT_EQ(file_of("JS:*two words REPL1:2:3"), "REPL1");
}

TEST(V8ScriptFile, IsThePathOfAFileUrl) {
  EXPECT_EQ(file_of("JS:*hot file:///home/me/a.mjs:6:13"), "/home/me/a.mjs");
  EXPECT_EQ(file_of("JS:*hot file:///home/my%20place/%C3%A4.mjs:6:13"), "/home/my place/\xc3\xa4.mjs");
  EXPECT_EQ(file_of("JS:*hot file:///home/100%/%4/%zz/%00.mjs:6:13"), "/home/100%/%4/%zz/%00.mjs");
}

TEST(V8ScriptFile, IsMissingWhereTheNameHasNone) {
  for (const char* name : {"", ":", "::", "1:1", ":1:1", "Builtin:ArrayMap", "RegExp:a b", "wasm-function[3]",
                           "JS:*hot /a.js", "JS:*hot /a.js:6:"})
    EXPECT_EQ(file_of(name), "(none)") << name;
}

TEST(V8ScriptFile, OfAnyLengthAndBytesDoesNoHarm) {
  EXPECT_EQ(file_of("f /" + std::string(ScriptFile::kLongest, 'a') + ":1:1"), "(none)");
  EXPECT_EQ(file_of("f /" + std::string(ScriptFile::kLongest - 1, 'a') + ":1:1").size(),
            ScriptFile::kLongest);
  EXPECT_EQ(file_of(std::string("f /a\0b:1:1", 10)), "(none)");
  std::mt19937 random(3);
  const std::string kLetters =
      " :/%0aF\x80"
      "file://";
  for (int i = 0; i < 100'000; ++i) {
    std::string name(random() % 40, ' ');
    for (char& c : name) c = kLetters[random() % kLetters.size()];
    EXPECT_LE(file_of(name + ":1:2").size(), name.size() + 6);
  }
}

}  // namespace
