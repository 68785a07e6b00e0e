#include "agent/drain/journal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/unit/writer/temporary_folder.hpp"

namespace jitquill::drain {
namespace {

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class JournalFile : public testing::Test {
 protected:
  JournalFile() {
    handle = ::open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    journal.open(handle);
  }
  ~JournalFile() override { ::close(handle); }
  std::vector<std::string> folded(Journal& with) {
    with.open(handle);
    std::vector<std::string> all;
    const bool has_state = with.fold([&](bool is_whole, std::span<const std::uint8_t> payload) {
      EXPECT_EQ(is_whole, all.empty());
      all.emplace_back(payload.begin(), payload.end());
      return true;
    });
    EXPECT_EQ(has_state, !all.empty());
    return all;
  }
  std::vector<std::string> folded() {
    Journal other;
    return folded(other);
  }
  void write(const std::string& content) {
    std::ofstream(folder.path / "journal", std::ios::binary) << content;
  }
  using Texts = std::vector<std::string>;

  TemporaryFolder folder;
  int handle;
  Journal journal;
};

// As in a host that closed all descriptors.
TEST_F(JournalFile, MakesNoFileInAFolderThatHasItsNumberNow) {
  TemporaryFolder theirs;
  const int other = ::open(theirs.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(dup2(other, handle), handle);
  EXPECT_EQ(journal.replace(bytes_of("whole")), Status::kNoOutput);
  EXPECT_TRUE(std::filesystem::is_empty(theirs.path));
  ::close(other);
}

TEST_F(JournalFile, OpensItsFolderAgainByItsPath) {
  journal.open(handle, folder.path.c_str());
  ASSERT_EQ(journal.replace(bytes_of("whole")), Status::kOk);
  TemporaryFolder theirs;
  const int ours = ::dup(handle);
  const int other = ::open(theirs.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(dup2(other, handle), handle);
  EXPECT_EQ(journal.replace(bytes_of("again")), Status::kOk);
  EXPECT_EQ(journal.append(bytes_of("more")), Status::kOk);
  EXPECT_TRUE(std::filesystem::is_empty(theirs.path));
  ASSERT_EQ(dup2(ours, handle), handle);
  EXPECT_EQ(folded(), (Texts{"again", "more"}));
  ::close(other);
  ::close(ours);
}

TEST_F(JournalFile, FoldsToWhatWasAppended) {
  EXPECT_EQ(folded(), Texts{});
  ASSERT_EQ(journal.replace(bytes_of("whole")), Status::kOk);
  EXPECT_EQ(folded(), Texts{"whole"});
  ASSERT_EQ(journal.append(bytes_of("one")), Status::kOk);
  ASSERT_EQ(journal.append(bytes_of("")), Status::kOk);
  EXPECT_EQ(folded(), (Texts{"whole", "one", ""}));
  ASSERT_EQ(journal.replace(bytes_of("all")), Status::kOk);
  ASSERT_EQ(journal.append(bytes_of("two")), Status::kOk);
  EXPECT_EQ(folded(), (Texts{"all", "two"}));
  EXPECT_FALSE(std::filesystem::exists(folder.path / "journal.new"));
}

TEST_F(JournalFile, GoesOnBehindTheLastWholeRecord) {
  ASSERT_EQ(journal.replace(bytes_of("whole")), Status::kOk);
  ASSERT_EQ(journal.append(bytes_of("one")), Status::kOk);
  const std::string two = folder.read("journal");
  ASSERT_EQ(journal.append(bytes_of("three")), Status::kOk);
  const std::string three = folder.read("journal");
  for (std::size_t size = two.size(); size < three.size(); ++size) {
    write(three.substr(0, size));
    Journal other;
    EXPECT_EQ(folded(other), (Texts{"whole", "one"})) << size;
    ASSERT_EQ(other.append(bytes_of("four")), Status::kOk);
    EXPECT_EQ(folded(), (Texts{"whole", "one", "four"}));
  }
}

TEST_F(JournalFile, TakesNothingBehindAWrongBit) {
  ASSERT_EQ(journal.replace(bytes_of("whole state")), Status::kOk);
  ASSERT_EQ(journal.append(bytes_of("one")), Status::kOk);
  const std::string all = folder.read("journal");
  for (std::size_t bit = 0; bit < 8 * all.size(); bit += 3) {
    std::string damaged = all;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    write(damaged);
    EXPECT_LE(folded().size(), 1u) << bit;
  }
}

TEST_F(JournalFile, TakesNoRecordOfAnotherTime) {
  ASSERT_EQ(journal.replace(bytes_of("a")), Status::kOk);
  ASSERT_EQ(journal.append(bytes_of("b")), Status::kOk);
  const std::string first = folder.read("journal");
  ASSERT_EQ(journal.append(bytes_of("c")), Status::kOk);
  const std::string third = folder.read("journal").substr(first.size());
  write(first + third + third);
  EXPECT_EQ(folded(), (Texts{"a", "b", "c"}));
}

TEST_F(JournalFile, IsTooLongWhenItIsMostlyOld) {
  const std::string state(3 << 20, 'x');
  ASSERT_EQ(journal.replace(bytes_of(state)), Status::kOk);
  while (!journal.is_too_long()) ASSERT_EQ(journal.append(bytes_of(state)), Status::kOk);
  EXPECT_GT(std::filesystem::file_size(folder.path / "journal"), 16u << 20);
  EXPECT_LT(std::filesystem::file_size(folder.path / "journal"), 20u << 20);
  ASSERT_EQ(journal.replace(bytes_of(std::string(8 << 20, 'y'))), Status::kOk);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(journal.append(bytes_of(state)), Status::kOk);
  EXPECT_FALSE(journal.is_too_long());  // below four times what is needed
}

TEST_F(JournalFile, FailsWhereItCannotBeMade) {
  Journal other;
  other.open(-1);
  EXPECT_EQ(other.replace(bytes_of("x")), Status::kNoOutput);
  EXPECT_EQ(other.append(bytes_of("x")), Status::kWriteFailed);
  EXPECT_FALSE(other.fold([](bool, std::span<const std::uint8_t>) { return true; }));
}

}  // namespace
}  // namespace jitquill::drain
