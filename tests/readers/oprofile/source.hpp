// The bytes of one file as the parts of the reader see them: words by the file's own width and order, and
// where violations go.
//
// Context   tests.
#pragma once

#include <string>

#include "tests/readers/oprofile/reader.hpp"

namespace oprofile_reader {

class Source {
 public:
  Source(std::span<const std::uint8_t> bytes, const Expectations& expectations, File& file)
      : bytes_(bytes), expectations_(expectations), file_(file) {}

  std::uint64_t size() const { return bytes_.size(); }
  std::uint64_t width() const { return file_.order.size(); }
  std::uint64_t header_size() const { return 8 + width(); }
  std::uint8_t byte(std::uint64_t at) const { return bytes_[at]; }
  std::span<const std::uint8_t> rest(std::uint64_t at) const { return bytes_.subspan(at); }
  bool was_killed() const { return expectations_.was_killed; }
  File& file() { return file_; }

  // Within the file: who asks has looked.
  Word word(std::uint64_t at);
  std::uint64_t number(std::uint64_t at) { return word(at).value; }
  void report(std::uint64_t at, Rule rule, std::string reason);

 private:
  std::span<const std::uint8_t> bytes_;
  const Expectations& expectations_;
  File& file_;
};

void read_notes(Source& source);
void read_samples(Source& source);
void read_hash_map(Source& source);
void read_database(Source& source);

}  // namespace oprofile_reader
