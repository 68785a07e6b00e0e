// A strict reader of jitdump files, written from the format's specification alone: it shares no header, table
// or constant with the writer, so that both must have understood the same page.
//
// Context   tests and the command jitdump-check.
// Promises  every byte of the file is either explained by a rule or reported; never reads out of the file;
//           goes on behind a violation wherever the next record can still be found.
// Does not  accept what readers merely tolerate: padding, surplus bytes, moves, unknown records.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/readers/jitdump/debug_info.hpp"
#include "tests/readers/jitdump/eh_frame.hpp"
#include "tests/readers/jitdump/violation.hpp"

namespace jitdump_reader {

struct Header {
  std::uint32_t machine = 0;
  std::uint32_t pid = 0;
  std::uint64_t when = 0;
  std::uint64_t flags = 0;
};

struct Function {
  std::uint64_t offset = 0;  // of the CODE_LOAD record in the file
  std::string name;
  std::uint64_t address = 0;
  std::vector<std::uint8_t> code;
  std::uint64_t index = 0;
  std::uint64_t when = 0;  // nanoseconds of CLOCK_MONOTONIC
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::vector<Line> lines;  // with the sentinel row
  std::optional<Unwinding> unwinding;
  // Where its twin lies, which has the function's index, name, code and tables and is no function of its own.
  std::optional<std::uint64_t> twin;

  // Where perf's map of the function ends: behind the tables if they are mapped.
  std::uint64_t mapped_end() const;
  std::uint64_t twin_end() const;
};

struct Dump {
  Header header;
  std::vector<Function> functions;  // in the file's order
  Violations violations;
  bool torn = false;    // the last record is cut off
  bool closed = false;  // ends with CODE_CLOSE
};

struct Expectations {
  std::optional<std::uint32_t> pid;        // of the process that wrote it
  std::optional<std::uint64_t> latest_ns;  // no stamp may be later
  bool may_be_torn = false;  // the process was killed: the last record may be cut, the last group incomplete
  bool nothing_freed = false;  // all code lives: no function may lie in another's mapped range
};

// Adds a violation for each function that lies in another's mapped range: for processes that freed no code.
void report_overlaps(Dump& dump);

Dump read(std::span<const std::uint8_t> file, const Expectations& expectations = {});

// Also checks the file's name, from which the expected pid is taken.
Dump read_file(const std::string& path, Expectations expectations = {});

}  // namespace jitdump_reader
