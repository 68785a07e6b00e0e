// Runs a host program with the agent preloaded, and finds and judges the dumps that it leaves.
//
// Context   drivers of host programs.
// Promises  every dump that is asked for has passed the strict reader, or the test has failed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/readers/jitdump/reader.hpp"
#include "tests/support/child.hpp"

// A command that runs `host` with the agent, whose output goes below `folder`/out.
test_support::Command with_agent(const test_support::TempFolder& folder, const std::string& host,
                                 const std::vector<std::string>& arguments, const std::string& options = "");

// The same, by libjitquill-preload.so.
test_support::Command with_preload(const test_support::TempFolder& folder, const std::string& host,
                                   const std::vector<std::string>& arguments,
                                   const std::string& options = "");

struct Killed {
  pid_t pid = 0;
  std::uint32_t returned = 0;  // announcements whose call had returned
};

// Runs kill_host, which is at `host`, until `target` of its announcements have returned, then kills it.
Killed kill_at(const test_support::TempFolder& folder, const std::string& host, std::uint32_t functions,
               std::uint32_t target, const std::string& options = "");

std::vector<std::string> dump_files(const test_support::TempFolder& folder);

// Reads and judges one.
jitdump_reader::Dump judged(const std::string& file, jitdump_reader::Expectations expectations = {});

// The only one; fails the test if there are none or several.
jitdump_reader::Dump only_dump(const test_support::TempFolder& folder,
                               jitdump_reader::Expectations expectations = {});

// What of function number i is not as pattern.hpp says; empty if all is.
std::string differences(const jitdump_reader::Function& function, std::uint32_t i);

// "fn_12" gives 12; fails the test otherwise.
std::uint32_t number_of(const jitdump_reader::Function& function);

// JITQUILL_LONG=1 asks for the long version of a test.
unsigned times(unsigned usually, unsigned when_long);
