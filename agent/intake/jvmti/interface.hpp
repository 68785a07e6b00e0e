// The part of a Java VM's tool interface (JVMTI) that we use, laid out as its specification says; compilation
// records as HotSpot's jvmticmlr.h describes them. No header of a JDK is needed to build.
//
// Context   a VM's functions are called without any lock of ours: they may wait for the VM's.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jitquill::intake::jvmti {

// What the VM hands out; only it looks inside.
using MethodId = const void*;
using ClassRef = void*;

struct Env {
  const void* const* functions;
};
struct Vm {
  const void* const* functions;
};

struct LineStart {
  std::int64_t bytecode;  // index of the first one that the line made
  std::int32_t line;
};

// Bits in the order of the specification.
struct Capabilities {
  std::uint64_t low;
  std::uint64_t high;
};
inline constexpr std::uint64_t kCanGetSourceFileName = std::uint64_t{1} << 11;
inline constexpr std::uint64_t kCanGetLineNumbers = std::uint64_t{1} << 12;
inline constexpr std::uint64_t kCanGenerateCompiledMethodLoadEvents = std::uint64_t{1} << 27;

struct AttachArguments {
  std::int32_t version;
  const char* name;
  void* group;
};

inline constexpr std::int32_t kJniVersion = 0x00010002;
inline constexpr std::int32_t kJvmtiVersion = 0x30010100;  // 1.1 has all that we use
inline constexpr std::int32_t kPhaseLive = 4;
inline constexpr std::int32_t kEnable = 1;

enum Event : std::int32_t {
  kFirstEvent = 50,
  kVmDeath = 51,
  kCompiledMethodLoad = 68,
  kCompiledMethodUnload = 69,
  kDynamicCodeGenerated = 70,
  kEventsEnd = 71,
};

// The map of a COMPILED_METHOD_LOAD: the code from here on is of that bytecode.
struct CodeStart {
  const void* address;
  std::int64_t bytecode;
};

// Its list of records.
struct RecordHead {
  std::int32_t kind;
  std::int32_t major;
  std::int32_t minor;
  const RecordHead* next;
};
inline constexpr std::int32_t kInlineRecord = 2;
inline constexpr std::int32_t kRecordMajor = 1;

struct InlinePlace {
  const void* address;
  std::int32_t depth;
  const MethodId* methods;        // the innermost first
  const std::int32_t* bytecodes;  // of each
};
struct InlineRecord {
  RecordHead head;
  std::int32_t count;
  const InlinePlace* places;
};
static_assert(sizeof(LineStart) == 16 && sizeof(CodeStart) == 16 && sizeof(InlinePlace) == 32);
static_assert(offsetof(RecordHead, next) == 16 && offsetof(InlineRecord, places) == 32);

#define JVMTI(number, name, parameters)                                               \
  inline auto name(const Env& env) noexcept {                                         \
    using Function = std::int32_t parameters;                                         \
    return reinterpret_cast<Function*>(const_cast<void*>(env.functions[(number)-1])); \
  }
#define INVOKE(number, name, parameters)                                         \
  inline auto name(const Vm& vm) noexcept {                                      \
    using Function = std::int32_t parameters;                                    \
    return reinterpret_cast<Function*>(const_cast<void*>(vm.functions[number])); \
  }
#include "agent/intake/jvmti/functions.def"
#undef JVMTI
#undef INVOKE

}  // namespace jitquill::intake::jvmti
