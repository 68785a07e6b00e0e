// What V8 tells of code, laid out as it has been from V8 10.2 to 13.6.
//
// Context   inside the handler: nothing of an event outlives it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::intake::v8 {

struct CodeEvent {
  enum Type : std::int32_t { kAdded, kMoved, kRemoved, kPosition, kStartPositions, kEndPositions };
  enum CodeType : std::int32_t { kBytecode, kJit, kWasm };

  struct Name {
    const char* text;  // not NUL-terminated
    std::size_t length;
  };
  struct Position {
    std::size_t offset;    // of the instruction in the code
    std::size_t position;  // in the script, in characters
    std::int32_t kind;
  };

  std::int32_t type;
  std::int32_t code_type;
  std::uint64_t start;  // not of kPosition and kStartPositions
  std::size_t size;     // of kAdded and kMoved
  const void* script;   // of kAdded: a handle to the script, or null
  void* user_data;      // from kStartPositions, where the handler sets it, to the kEndPositions that follows
  const void* wasm_source;
  union {
    Name name;                // kAdded
    Position position;        // kPosition
    std::uint64_t new_start;  // kMoved
  };
  void* isolate;  // of kAdded; V8 10 leaves it out elsewhere
};

static_assert(offsetof(CodeEvent, start) == 8 && offsetof(CodeEvent, user_data) == 32 &&
              offsetof(CodeEvent, name) == 48 && offsetof(CodeEvent, isolate) == 72 &&
              sizeof(CodeEvent) == 80);

}  // namespace jitquill::intake::v8
