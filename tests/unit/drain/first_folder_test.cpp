#include "agent/drain/first_folder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "agent/drain/run_outputs.hpp"
#include "tests/unit/drain/process_place.hpp"

namespace {

namespace fs = std::filesystem;
using namespace jitquill;

// As the agent's place, which goes on in another folder where one is full.
class Moving final : public Folder {
 public:
  Moving(const std::string& first, const std::string& second) : first_(first), second_(second) {}
  int create(const char* name) noexcept override { return tests::PlainFolder(path()).create(name); }
  int open_again(const char* name) noexcept override { return folders::open_file(path(), name); }
  void remove(const char*) noexcept override {}
  const char* path() const noexcept override { return (is_first_full ? second_ : first_).c_str(); }
  bool is_first_full = false;

 private:
  std::string first_, second_;
};

class NoneDefined final : public drain::Defined {
 public:
  Mark so_far() const noexcept override { return {}; }
  void define_again(const Mark&, RunSink&, Bytes&) noexcept override {}
};

std::uint32_t bit_of(std::string_view format) {
  return 1u << (std::ranges::find(sink_rows(), format, &SinkRow::name) - sink_rows().begin());
}

// As daemons do.
void close_what_is_in(const std::string& folder) {
  for (int descriptor = 3; descriptor < 1024; ++descriptor) {
    std::error_code none;
    const auto file = fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), none);
    if (file.string().starts_with(folder + "/")) ::close(descriptor);
  }
}

TEST(FirstFolder, IsWhereTheFilesOfASinkAreOpenedAgain) {
  const test_support::TempFolder first, second;
  Moving place(first.path(), second.path());
  NoneDefined defined;
  drain::RunOutputs outputs;
  ASSERT_EQ(outputs.open({.formats = bit_of("oprofile")}, place, defined, nullptr), Status::kOk);
  place.is_first_full = true;
  close_what_is_in(first.path());
  const auto notes = first.file("oprofile/notes.opnd");
  const auto before = fs::file_size(notes);
  outputs.module({1, 0x1000, 0x1000, 0, "/usr/bin/program"});
  outputs.append();
  EXPECT_GT(fs::file_size(notes), before);
  EXPECT_TRUE(fs::is_empty(second.path()));
}

}  // namespace
