// A kill_host that is killed while it writes, and recovered.
//
// Context   drivers that define KILL_HOST and JITQUILL_COMMAND.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <string>

#include "tests/host/jitdump/agent_run.hpp"
#include "tests/host/run/run_files.hpp"
#include "tests/host/survival/kill_record.hpp"

namespace kill_record {

// When so many entries are made. look() at the output, whose path it returns, is between the two.
template <class Look>
void kill_and_recover(const test_support::TempFolder& folder, std::uint64_t target,
                      const std::string& options, Look look) {
  const std::string shared = folder.file("progress");
  const Progress* const progress = map(shared.c_str());
  ASSERT_NE(progress, nullptr);
  test_support::Child child(with_agent(folder, KILL_HOST, {shared, "3", "0"}, options));
  kill_at(*progress, target, [&] { child.signal(SIGKILL); });
  EXPECT_EQ(child.wait(30).signal, SIGKILL);
  const std::string output = std::filesystem::path(look(folder)).parent_path();
  const auto ended = test_support::run(
      {.words = {JITQUILL_COMMAND, "recover", output}, .environment = {}, .folder = folder.path()});
  EXPECT_TRUE(ended.succeeded()) << ended.describe();
  run_files::expect_no_memory(child.pid());
}

}  // namespace kill_record
