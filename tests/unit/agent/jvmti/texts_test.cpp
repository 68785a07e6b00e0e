// Names of methods and of their files.
#include "agent/intake/jvmti/texts.hpp"

#include <gtest/gtest.h>

#include <string>

namespace jitquill::intake::jvmti {
namespace {

std::string name(std::string_view owner, std::string_view method, std::string_view descriptor) {
  Scratch scratch;
  return method_name(scratch, owner, method, descriptor);
}

std::string path(std::string_view owner, std::string_view source) {
  Scratch scratch;
  return source_path(scratch, owner, source);
}

TEST(JavaTexts, AMethodIsNamedWithItsClassAndParameters) {
  EXPECT_EQ(name("Ljava/lang/String;", "hashCode", "()I"), "java.lang.String.hashCode()");
  EXPECT_EQ(name("LMain;", "<init>", "(IJFDZBCS)V"),
            "Main.<init>(int,long,float,double,boolean,byte,char,short)");
  EXPECT_EQ(name("La/B$C;", "m", "([[Ljava/util/Map$Entry;[I)V"), "a.B$C.m(Map$Entry[][],int[])");
}

TEST(JavaTexts, AHiddenClassKeepsItsSuffix) {
  EXPECT_EQ(name("La/B$$Lambda$1.0x0000000800c01200;", "run", "()V"),
            "a.B$$Lambda$1.0x0000000800c01200.run()");
}

TEST(JavaTexts, BrokenDescriptorsAreShownAsFarAsTheyGo) {
  EXPECT_EQ(name("LA;", "m", ""), "A.m()");
  EXPECT_EQ(name("LA;", "m", "(I"), "A.m(int)");
  EXPECT_EQ(name("LA;", "m", "(ILjava/lang/String"), "A.m(int)");
  EXPECT_EQ(name("LA;", "m", "([[["), "A.m()");
  EXPECT_EQ(name("LA;", "m", "(Q)V"), "A.m()");
  EXPECT_EQ(name("", "", "(L;)V"), ".()");
}

TEST(JavaTexts, PrimitivesGrowNoFurtherThanTheirRoom) {
  const std::string many(2000, 'Z');
  const std::string shown = name("LA;", "m", "(" + many + ")V");
  EXPECT_EQ(shown.size(), std::string("A.m()").size() + 2000 * std::string("boolean,").size() - 1);
  EXPECT_TRUE(shown.ends_with(",boolean)"));
}

TEST(JavaTexts, AFileLiesInTheFolderOfItsPackage) {
  EXPECT_EQ(path("Ljava/util/Map$Entry;", "Map.java"), "java/util/Map.java");
  EXPECT_EQ(path("LMain;", "Main.java"), "Main.java");
  EXPECT_EQ(path("Ljava/util/Map$Entry;", ""), "java/util/Map$Entry.class");
}

}  // namespace
}  // namespace jitquill::intake::jvmti
