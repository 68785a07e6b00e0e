#include "agent/intake/own_dump.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace {

using jitquill::intake::names_own_dump;

class OwnDump : public testing::Test {
 protected:
  bool names(const std::string& maps, const std::string& ours = "") {
    std::ofstream(file_) << maps;
    return names_own_dump(file_.c_str(), 42, ours);
  }

  test_support::TempFolder folder_;
  const std::string file_ = folder_.file("maps");
};

const std::string kNode = "00400000-00b72000 r-xp 00000000 fe:00 247823   /usr/bin/node\n";
const std::string kDump = "7fec28003000-7fec28004000 r-xp 00000000 fe:00 9   /home/me/jit-42.dump\n";

TEST_F(OwnDump, IsSeenWhereverItIsMapped) {
  EXPECT_FALSE(names(kNode));
  EXPECT_TRUE(names(kNode + kDump + kNode));
  EXPECT_FALSE(names(""));
}

TEST_F(OwnDump, IsNotAnotherProcesses) {
  EXPECT_FALSE(names("7fec28003000-7fec28004000 r-xp 00000000 fe:00 9   /home/me/jit-421.dump\n"));
  EXPECT_FALSE(names("7fec28003000-7fec28004000 r-xp 00000000 fe:00 9   /home/me/jit-42.dump.old\n"));
  EXPECT_FALSE(names("7fec28003000-7fec28004000 r-xp 00000000 00:00 0   [heap]\n"));
}

TEST_F(OwnDump, IsNotOurs) {
  EXPECT_FALSE(names(kDump, "/home/me"));
  EXPECT_TRUE(names(kDump, "/home/you"));
}

TEST_F(OwnDump, IsSeenBehindManyMappings) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += kNode;
  EXPECT_TRUE(names(many + kDump));
  EXPECT_TRUE(names(kNode + std::string(20'000, 'x') + "\n" + kDump));
  EXPECT_FALSE(names(many));
}

}  // namespace
