// Hosts with a GDB JIT interface, without the preload and with it: the dump has what they expect, and nothing
// else.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "tests/host/jitdump/agent_run.hpp"

namespace {

struct Expected {
  std::uint64_t address;
  std::string code;
};

std::multimap<std::string, Expected> expected_by(const std::string& printed) {
  std::multimap<std::string, Expected> all;
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what, name, address, code;
    if (words >> what >> name >> address >> code && what == "expect")
      all.insert({name, {std::stoull(address, nullptr, 16), code}});
  }
  return all;
}

std::string hex(const std::vector<std::uint8_t>& bytes, std::size_t size) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < std::min(size, bytes.size()); ++i)
    text += std::string{kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15]};
  return text;
}

// Runs a host both ways. Addresses differ from run to run, so stdout is compared without them.
class IntakeGdb : public testing::Test {
 protected:
  void run(const std::string& host, const std::string& argument, const std::string& options = "") {
    run_command(host, {argument}, options);
  }
  void run_command(const std::string& host, const std::vector<std::string>& arguments,
                   const std::string& options = "",
                   const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    const test_support::TempFolder plain_folder;
    test_support::Command plain{{host}, environment, plain_folder.path()};
    plain.words.insert(plain.words.end(), arguments.begin(), arguments.end());
    const auto without = test_support::run(plain);
    auto command = with_preload(folder_, host, arguments, options);
    command.environment.insert(command.environment.end(), environment.begin(), environment.end());
    ended_ = test_support::run(command);
    EXPECT_EQ(ended_.exit_code, 7) << ended_.describe();
    EXPECT_EQ(without.exit_code, 7) << without.describe();
    EXPECT_EQ(without_addresses(ended_.out), without_addresses(without.out));
    EXPECT_EQ(ended_.err, without.err);
    const auto dumps = dump_files(folder_);
    ASSERT_LE(dumps.size(), 1u);
    if (!dumps.empty()) dump_ = judged(dumps[0]);
    read_statistics();
  }

  // Exactly what the host expects: names, addresses, and the code as it was final.
  void expect_all(std::size_t count) {
    auto expected = expected_by(ended_.out);
    EXPECT_EQ(expected.size(), count);
    EXPECT_EQ(dump_.functions.size(), count);
    for (const jitdump_reader::Function& function : dump_.functions) {
      const auto at = expected.find(function.name);
      ASSERT_NE(at, expected.end()) << function.name;
      EXPECT_EQ(function.address, at->second.address) << function.name;
      EXPECT_EQ(hex(function.code, at->second.code.size() / 2), at->second.code) << function.name;
      expected.erase(at);
    }
  }
  std::uint64_t counted(const std::string& name) { return statistics_[name]; }

  test_support::TempFolder folder_;
  test_support::Ended ended_;
  jitdump_reader::Dump dump_;

 private:
  void read_statistics() {
    for (const std::string& file : test_support::files_below(folder_.file("out"), "stats", "")) {
      std::istringstream lines(test_support::read_text(file));
      for (std::string line; std::getline(lines, line);) {
        const std::size_t tab = line.find('\t');
        statistics_[line.substr(0, tab)] = std::stoull(line.substr(tab + 1));
      }
    }
  }
  static std::string without_addresses(const std::string& printed) {
    std::istringstream words(printed);
    std::string text;
    for (std::string word; words >> word;) {
      if (!word.starts_with("0x")) text += word + " ";
    }
    return text;
  }

  std::map<std::string, std::uint64_t> statistics_;
};

TEST_F(IntakeGdb, HearsOfEachFunctionOnce) {
  run(GDB_HOST, "at_once");
  expect_all(50);
  EXPECT_EQ(counted("jit_interfaces_watched"), 1u);
  EXPECT_EQ(counted("symfiles_read"), 50u);
  EXPECT_EQ(counted("symfiles_waited"), 0u);
}

TEST_F(IntakeGdb, SaysHowMuchOfTheCodeMemoryIsKnown) {
  run(GDB_HOST, "at_once");
  std::smatch memory;
  ASSERT_TRUE(std::regex_search(ended_.out, memory, std::regex("memory ([0-9]+)")));
  EXPECT_EQ(counted("code_memory_bytes"), std::stoull(memory[1]));
  std::uint64_t known = 0;
  for (const auto& [name, function] : expected_by(ended_.out)) known += function.code.size() / 2;
  EXPECT_EQ(counted("code_memory_known_bytes"), known);
}

TEST_F(IntakeGdb, ReplacesAFunctionWithAFrame) {
  run(FRAMED_HOST, "at_once");
  expect_all(50);
  EXPECT_EQ(counted("jit_interfaces_watched"), 1u);
}

// A body that does something stays: the list is read instead.
TEST_F(IntakeGdb, ReadsTheListWhereItCannotPatch) {
  run(BUSY_HOST, "at_once");
  expect_all(50);
  EXPECT_EQ(counted("jit_interfaces_watched"), 0u);
  EXPECT_EQ(counted("jit_interfaces_walked"), 1u);
}

TEST_F(IntakeGdb, CopiesRelocatedCodeWhenItsFramesAreRegistered) {
  run(GDB_HOST, "frames_later");
  expect_all(5);
  EXPECT_EQ(counted("symfiles_waited"), 5u);
  EXPECT_EQ(counted("frames_heard"), 5u);
  EXPECT_EQ(counted("frames_nameless"), 0u);
  for (const auto& function : dump_.functions) EXPECT_TRUE(function.unwinding.has_value());
}

TEST_F(IntakeGdb, CopiesRelocatedCodeWhenItBecomesExecutable) {
  run(GDB_HOST, "protected_later");
  expect_all(1);
  EXPECT_EQ(counted("symfiles_waited"), 1u);
}

TEST_F(IntakeGdb, LeavesAModuleAloneThatWaitsForAnother) {
  run(GDB_HOST, "two_wait");
  expect_all(2);
  EXPECT_EQ(counted("symfiles_waited"), 2u);
}

TEST_F(IntakeGdb, TellsWhatStillWaitsAtTheEnd) {
  run(GDB_HOST, "never_protected");
  expect_all(1);
}

TEST_F(IntakeGdb, EndsFunctionsWithTheirSymbolFile) {
  run(GDB_HOST, "taken_back");
  expect_all(10);
  EXPECT_EQ(counted("functions_unloaded"), 10u);
  EXPECT_EQ(counted("functions_replaced"), 0u);
}

TEST_F(IntakeGdb, EndsOnesAmongManyWhereItReadsTheList) {
  run(BUSY_HOST, "many_come_and_go");
  expect_all(100);
  EXPECT_EQ(counted("functions_unloaded"), 5u);
  EXPECT_EQ(counted("functions_replaced"), 0u);
  EXPECT_EQ(counted("symfiles_read"), 100u);
}

TEST_F(IntakeGdb, SurvivesWhatCannotBeTrusted) {
  run(GDB_HOST, "hostile");
  EXPECT_EQ(counted("symfiles_refused"), 5u);
  ASSERT_EQ(dump_.functions.size(), 2u);
  EXPECT_EQ(dump_.functions[0].name, "far");  // its name is known, its code is not
  EXPECT_EQ(counted("code_unreadable"), 1u);
  EXPECT_EQ(dump_.functions[1].name, "after_all");
}

TEST_F(IntakeGdb, LeavesOutABufferThatPosesAsAFunction) {
  run(GDB_HOST, "arena");
  expect_all(1);
  EXPECT_EQ(counted("symfile_arenas"), 1u);
}

TEST_F(IntakeGdb, LeavesCodeToADumpOfTheProcessItself) {
  run(GDB_HOST, "own_dump");
  ASSERT_EQ(dump_.functions.size(), 1u);
  EXPECT_EQ(dump_.functions[0].name, "before_own_dump");
  EXPECT_EQ(counted("other_dumps"), 1u);
  EXPECT_EQ(counted("symfiles_left"), 1u);
  const auto logs = test_support::files_below(folder_.file("out"), "log", "");
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_NE(test_support::read_text(logs[0]).find("its code is left to that"), std::string::npos);
}

TEST_F(IntakeGdb, TakesCodeThatIsInADumpOfTheProcessToo) {
  run(GDB_HOST, "own_dump", "own_dump=take");
  expect_all(2);
  EXPECT_EQ(counted("other_dumps"), 1u);
  EXPECT_EQ(counted("symfiles_left"), 0u);
  const auto logs = test_support::files_below(folder_.file("out"), "log", "");
  ASSERT_EQ(logs.size(), 1u);
  EXPECT_NE(test_support::read_text(logs[0]).find("ours has its code too"), std::string::npos);
}

TEST_F(IntakeGdb, IsOffWhereOnlyOthersAreWanted) {
  run(GDB_HOST, "at_once", "intakes=frames");
  EXPECT_TRUE(dump_.functions.empty());
}

TEST_F(IntakeGdb, GivesUnwindingThatWasRegisteredBefore) {
  run(GDB_HOST, "frames_first");
  expect_all(1);
  EXPECT_TRUE(dump_.functions[0].unwinding.has_value());
  EXPECT_EQ(counted("frames_heard"), 1u);
  EXPECT_EQ(counted("frames_nameless"), 0u);
}

TEST_F(IntakeGdb, ReadsNoOthersUnwindingForAFunction) {
  run(GDB_HOST, "frames_of_many");
  expect_all(1);
  EXPECT_TRUE(dump_.functions[0].unwinding.has_value());
  EXPECT_EQ(counted("frames_heard"), 1u);
}

TEST_F(IntakeGdb, ReadsUnwindingWhereItIsNow) {
  run(GDB_HOST, "frames_rewritten");
  expect_all(3);
  EXPECT_EQ(counted("frames_heard"), 3u);
  for (const auto& function : dump_.functions) EXPECT_TRUE(function.unwinding.has_value());
}

// By whatever way the program ends.
TEST_F(IntakeGdb, MakesUpNamesForWhatNobodyNames) {
  for (const char* deed : {"nameless", "nameless_and_gone"}) {
    run(GDB_HOST, deed);
    const auto expected = expected_by(ended_.out);
    ASSERT_EQ(expected.size(), 10u);
    ASSERT_EQ(dump_.functions.size(), 10u) << deed;
    EXPECT_EQ(counted("frames_nameless"), 10u);
    EXPECT_EQ(counted("functions_unloaded"), 5u);
    for (const jitdump_reader::Function& function : dump_.functions) {
      const auto is_it = [&](const auto& row) {
        return row.second.address == function.address &&
               row.second.code == hex(function.code, row.second.code.size() / 2);
      };
      const auto at = std::find_if(expected.begin(), expected.end(), is_it);
      ASSERT_NE(at, expected.end()) << function.name;
      std::ostringstream name;
      name << "jit_" << std::hex << function.address;
      EXPECT_EQ(function.name, name.str());
      EXPECT_TRUE(function.unwinding.has_value());
    }
    std::filesystem::remove_all(folder_.file("out"));
  }
}

TEST_F(IntakeGdb, ANameTakesThePlaceOfOneThatWasMadeUp) {
  run(GDB_HOST, "named_late");
  ASSERT_EQ(dump_.functions.size(), 2u);
  EXPECT_TRUE(dump_.functions[0].name.starts_with("jit_"));
  EXPECT_EQ(dump_.functions[1].name, "named_late");
  EXPECT_EQ(dump_.functions[1].address, dump_.functions[0].address);
  EXPECT_EQ(counted("frames_nameless"), 1u);
}

TEST_F(IntakeGdb, MakesUpNoNameForCodeInAFile) {
  run(GDB_HOST, "framed_file");
  EXPECT_EQ(dump_.functions.size(), 1u);
  EXPECT_EQ(counted("frames_heard"), 2u);
  EXPECT_EQ(counted("frames_no_code"), 1u);
}

// Each has one dump, the parent's.
TEST_F(IntakeGdb, AForkedChildTellsNothingOfItsParents) {
  run(GDB_HOST, "forked");
  EXPECT_EQ(dump_.functions.size(), 3u);
  EXPECT_EQ(counted("frames_nameless"), 3u);
}

TEST_F(IntakeGdb, AForkedChildTellsNoSymbolFileThatWaitsInItsParent) {
  for (const char* host : {GDB_HOST, BUSY_HOST}) {
    run(host, "forked_symfile");
    expect_all(2);
    EXPECT_EQ(counted("symfiles_waited"), 2u);
    EXPECT_EQ(counted("symfiles_read"), 2u);
    std::filesystem::remove_all(folder_.file("out"));
  }
}

TEST_F(IntakeGdb, LeavesNamesToOthersWhereFramesAreNotWanted) {
  run(GDB_HOST, "nameless", "intakes=gdb");
  EXPECT_TRUE(dump_.functions.empty());
}

TEST_F(IntakeGdb, HearsOfAllThreads) {
  run(GDB_HOST, "threads");
  expect_all(200);
}

TEST_F(IntakeGdb, FindsAnInterfaceThatIsNotExported) {
  run(HIDDEN_HOST, "at_once");
  expect_all(50);
  EXPECT_EQ(counted("jit_interfaces_watched"), 1u);
}

TEST_F(IntakeGdb, FindsNothingWhereNothingHasAName) {
  run(HIDDEN_HOST "-stripped", "at_once");
  EXPECT_TRUE(dump_.functions.empty());
}

TEST_F(IntakeGdb, FindsAJitThatComesLateAndIsNotExported) {
  run(LATE_HOST, HIDDEN_LIBRARY);
  expect_all(4);
  EXPECT_EQ(counted("jit_interfaces_watched"), 2u);
}

TEST_F(IntakeGdb, FindsAJitThatComesLate) {
  run(LATE_HOST, LATE_LIBRARY);
  expect_all(4);
  EXPECT_EQ(counted("jit_interfaces_watched"), 2u);
}

TEST_F(IntakeGdb, FindsAJitWhoseCallsGoPastUs) {
  run_command(LATE_HOST, {LATE_LIBRARY}, "", {{"DEEP", "/dev/null"}});
  expect_all(4);
  EXPECT_EQ(counted("jit_interfaces_watched"), 2u);
  EXPECT_EQ(counted("symfile_functions"), 4u);
}

// Neither the shell nor what else it runs leaves anything.
TEST_F(IntakeGdb, HearsOfAJitInAChildOfAShell) {
  run_command("/bin/sh", {"-c", std::string("cat /dev/null; ") + GDB_HOST +
                                    " at_once; code=$?; ls /dev/null; exit $code"});
  expect_all(50);
  EXPECT_EQ(test_support::files_below(folder_.file("out"), "", "").size(), 2u);  // dump and stats
}

}  // namespace
