// What lies in the heap of a program, as jitted code, the runtime and the collector see it.
//
// Context   any; plain values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nib {

struct CodePoint;

// What an object consists of behind its head.
enum class Kind : std::uint8_t { kRecord, kWords, kBytes, kReferences, kChannel, kTask };
// Where it lies.
enum class Place : std::uint8_t { kBlock, kLarge, kStatic };

// What a value of a record type points to, unless it is null. The fields lie behind it, 8 bytes each.
struct Object {
  Kind kind;
  std::uint8_t fields = 0;  // of a record: their number
  std::uint16_t references =
      0;                  // of a record: bit i is set if field i refers to an object; else: all or none
  std::uint8_t mark = 0;  // of the collector
  Place place = Place::kBlock;
  std::uint16_t unused = 0;
};
static_assert(sizeof(Object) == sizeof(std::int64_t));

// What a value of an array type, or a str, points to. The elements lie behind it, of 1 byte (kBytes) or 8.
struct Array {
  Object head;
  std::int64_t length;

  void* elements() noexcept { return this + 1; }
  std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(this + 1), static_cast<std::size_t>(length)};
  }
};

// A ring of `capacity` values, which lie behind it.
struct Channel {
  Object head;
  std::int64_t capacity, first, count;

  std::int64_t* values() noexcept { return reinterpret_cast<std::int64_t*>(this + 1); }
};

// What `spawn` and `par` give: a call of a function, and its result.
struct Task {
  enum class State : std::int64_t { kWaiting, kRunning, kDone };

  Object head;
  State state;
  std::int64_t result;
  const CodePoint* code;
  Object* arguments;  // a record of them, until it is done
};

constexpr std::size_t element_size(Kind kind) noexcept {
  return kind == Kind::kBytes ? sizeof(bool) : sizeof(std::int64_t);
}

// A multiple of 8.
std::size_t size_of(const Object& object) noexcept;

// References of one call of a function, where the collector finds them: jitted code keeps one on its stack,
// and links it while it runs.
struct Frame {
  Frame* outer;
  std::int64_t count;
  Object** slots() noexcept { return reinterpret_cast<Object**>(this + 1); }
};

// What jitted code reads and writes of its thread, at constant distances from the thread pointer.
struct ThreadWords {
  // Jitted code that finds rsp below it calls nib_poll_keeping_registers(): its stack is full, or it is to
  // stop.
  std::uintptr_t stack_limit = 0;
  Frame* frames = nullptr;
  // Memory for new objects.
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  // What a transfer leads to (tier.hpp), and its variables, which nobody looks at before it has arrived.
  void* target = nullptr;
  static constexpr std::size_t kMostPassed = 64;
  std::int64_t passed[kMostPassed] = {};
};

// initial-exec: jitted code needs the constant distance. A program that loads nib late fails to load instead
// of reading something else.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local ThreadWords words;

// As a Frame, for references in the runtime's own functions; a longjmp may pass it by.
template <std::size_t N>
class Rooted {
 public:
  template <class... T>
  explicit Rooted(T*... objects) noexcept : slots_{address_of(objects)...} {
    words.frames = &frame_;
  }
  explicit Rooted(Object* const (&objects)[N]) noexcept {
    std::copy(objects, objects + N, slots_);
    words.frames = &frame_;
  }
  ~Rooted() { words.frames = frame_.outer; }
  Rooted(const Rooted&) = delete;
  Rooted& operator=(const Rooted&) = delete;

 private:
  static Object* address_of(const void* object) noexcept {
    return static_cast<Object*>(const_cast<void*>(object));
  }

  Frame frame_{words.frames, N};
  Object* slots_[N];
};
template <class... T>
Rooted(T*...) -> Rooted<sizeof...(T)>;

}  // namespace nib
