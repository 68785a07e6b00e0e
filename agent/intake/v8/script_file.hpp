// The source file in the name that V8 gives a function: "JS:*hot /home/me/a.js:6:13",
// "JS:^ file:///b.mjs:1:1", and of V8 10 "LazyCompile:*hot /home/me/a.js:6".
//
// V8 can be asked for a script's name too, but not from inside the handler: it may allocate for the answer.
//
// Context   [notify]; allocates nothing.
// Does not  know where a function's name with blanks ends but by what file names begin with: "/", "file://",
//           "node:", else the last blank.
#pragma once

#include <cstddef>
#include <string_view>

namespace jitquill::intake::v8 {

class ScriptFile {
 public:
  static constexpr std::size_t kLongest = 4096;

  explicit ScriptFile(std::string_view name) noexcept;
  // file:// URLs as the path that they mean. Null: the name has no place in a file.
  const char* path() const noexcept { return size_ == 0 ? nullptr : path_; }

 private:
  void put_decoded(std::string_view url_path) noexcept;
  void put(std::string_view path) noexcept;

  std::size_t size_ = 0;
  char path_[kLongest + 1];
};

}  // namespace jitquill::intake::v8
