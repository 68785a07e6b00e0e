// What the process looked like when the library was loaded, before the host changes it.
//
// Context   note(): [life], once. Plain values afterwards.
// Does not  allocate; paths that are too long count as not there.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/life/options.hpp"

namespace jitquill {

class ProcessStart {
 public:
  void note() noexcept;

  // Absolute; empty if it had none that can be named.
  std::string_view folder() const noexcept { return folder_; }
  // The executable's base name, at most 32 of [A-Za-z0-9._-]; others are '_'.
  std::string_view command() const noexcept { return command_; }
  // $XDG_RUNTIME_DIR and $HOME; empty where not set, or not absolute.
  std::string_view runtime_dir() const noexcept { return runtime_dir_.view(); }
  std::string_view home() const noexcept { return home_.view(); }
  // $JITQUILL_RUN_LIST: where `jitquill run` wants to be told of folders; empty = nobody does.
  const char* run_list() const noexcept { return run_list_.c_str(); }
  // CLOCK_MONOTONIC: before all code of which we are told. A child of fork has its parent's.
  std::uint64_t noted_ns() const noexcept { return noted_ns_; }
  // UTC, as 20261130-213000.
  std::string_view time() const noexcept { return {time_, sizeof time_}; }

 private:
  void note_command(char* path, std::size_t room) noexcept;
  void note_time() noexcept;

  std::uint64_t noted_ns_ = 0;
  char folder_[4096] = {};
  char command_[33] = {};
  char time_[15] = {};
  FixedText<512> runtime_dir_;
  FixedText<512> home_;
  FixedText<512> run_list_;
};

}  // namespace jitquill
