// Trace points of a runtime's own for OpenJ9 traces (writer/openj9/): what a component's posts and its format
// data file are made of. Here, since who tells of them knows no format.
//
// Context   make(), put_dat(): one thread. The others: any thread, any time, signal handlers too; no
//           allocation where `out` is the caller's memory.
// Promises  a component that was made does not end the formatter, nor have it print what nobody put.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "writer/bytes/bytes.hpp"
#include "writer/model/status.hpp"

namespace jitquill {

struct TracePointText {
  std::string_view name;
  std::string_view text;
  std::uint32_t type;
  std::uint32_t level;
};

struct TraceValue {
  enum class Kind : std::uint32_t { kSigned = 1, kUnsigned = 2, kDouble = 3, kText = 4 };
  Kind kind;
  std::uint64_t bits;  // of a number
  std::string_view text;
};

class TraceComponent {
 public:
  static constexpr std::size_t kMostPayload = 1900;  // bytes of a post: any trace has an entry for so many
  static constexpr std::size_t kMostValues = 16;
  static constexpr std::size_t kMostName = 32;

  // The point of this place; what it names is there while make() runs.
  struct Points {
    std::size_t count;
    TracePointText (*at)(const void* from, std::size_t place);
    const void* from;
  };
  struct Made {
    TraceComponent* component;  // null: it cannot be
    const char* fault;          // why; null: no memory
    std::size_t point;          // whose fault it is; behind all: the component's
  };
  // The caller deletes it.
  static Made make(std::string_view name, const Points& points) noexcept;

  virtual ~TraceComponent() = default;
  virtual std::string_view name() const noexcept = 0;
  virtual std::span<const std::uint8_t> dat() const noexcept = 0;  // the file
  virtual std::size_t size() const noexcept = 0;                   // in points
  virtual int level_of(std::size_t point) const noexcept = 0;
  // The payload of a kTracePointPost. kBadArgument: other values than the point's text has. kTextCut: without
  // the ends of texts.
  virtual Status put(std::size_t point, std::span<const TraceValue> values, Bytes& out) const noexcept = 0;
};

}  // namespace jitquill
