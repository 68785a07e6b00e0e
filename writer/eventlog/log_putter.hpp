// Records into the blocks of their capabilities: a block begins where the capability is another.
//
// Context   as the sink that uses it. Lives as long as one call of it.
// Promises  each block is closed, with its size and the time of its last record. Times in it ascend: what is
//           earlier begins another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "writer/bytes/bytes.hpp"
#include "writer/eventlog/record.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::eventlog {

class LogPutter {
 public:
  LogPutter(Bytes& out, RunLosses& losses) noexcept : out_(out), losses_(losses) {}
  ~LogPutter() { close(); }
  LogPutter(const LogPutter&) = delete;
  LogPutter& operator=(const LogPutter&) = delete;

  template <Event kEvent, class... Values>
  void put(std::uint16_t capability, std::uint64_t when_ns, const Values&... values) noexcept {
    go_to(capability, when_ns);
    note(eventlog::put<kEvent>(when_ns, out_, values...));
  }

  // What is put into out() next is of this capability and time.
  void go_to(std::uint16_t capability, std::uint64_t when_ns) noexcept {
    if (!block_ || capability != capability_ || when_ns < end_ns_) open(capability, when_ns);
    end_ns_ = std::max(end_ns_, when_ns);
  }
  // Of what was put last: its time, and the stack of the thread that calls behind it are on.
  void saw(std::uint64_t when_ns, std::uint16_t stack) noexcept {
    end_ns_ = std::max(end_ns_, when_ns);
    stack_ = stack;
  }
  std::uint16_t stack() const noexcept { return stack_; }
  void note(Status status) noexcept {
    if (status != Status::kOk) ++losses_.cut;
  }
  Bytes& out() noexcept { return out_; }
  void close() noexcept {
    if (block_) block_->close(end_ns_);
    block_.reset();
  }

 private:
  void open(std::uint16_t capability, std::uint64_t when_ns) noexcept {
    close();
    block_.emplace(when_ns, capability, out_);
    capability_ = capability;
    end_ns_ = when_ns;
    stack_ = 0;
  }

  Bytes& out_;
  RunLosses& losses_;
  std::optional<Block> block_;
  std::uint16_t capability_ = kNoCapability;
  std::uint16_t stack_ = 0;
  std::uint64_t end_ns_ = 0;
};

}  // namespace jitquill::eventlog
