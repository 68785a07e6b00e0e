#include "nib/str.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "nib/runtime.hpp"

namespace nib {
namespace {

constexpr int kMaxDigits = 40;

Array* new_str(const FaultSite& site, std::string_view text) {
  Array* const str = new_array(site, Kind::kBytes, static_cast<std::int64_t>(text.size()));
  std::memcpy(str->elements(), text.data(), text.size());
  return str;
}

// A literal is made by the thread that compiles, and published with the code: by a release store into the
// table through which jitted code calls, whose loads ThreadSanitizer does not see.
#ifdef __SANITIZE_THREAD__
extern "C" void AnnotateBenignRaceSized(const char* file, int line, const volatile void* at, long size,
                                        const char* why);
void annotate_published(const void* at, std::size_t size) {
  AnnotateBenignRaceSized(__FILE__, __LINE__, at, static_cast<long>(size), "published with the code");
}
#else
void annotate_published(const void*, std::size_t) {}
#endif

}  // namespace

StaticStr::StaticStr(std::string_view text) : memory_(new std::byte[sizeof(Array) + text.size()]) {
  array_ = new (memory_.get())
      Array{{.kind = Kind::kBytes, .place = Place::kStatic}, static_cast<std::int64_t>(text.size())};
  if (!text.empty()) std::memcpy(array_->elements(), text.data(), text.size());
  annotate_published(memory_.get(), sizeof(Array) + text.size());
}

Array* nib_concatenate(const FaultSite* site, const Array* left, const Array* right) {
  const Rooted roots(left, right);
  Array* const str = new_array(*site, Kind::kBytes, left->length + right->length);
  auto* const bytes = static_cast<char*>(str->elements());
  std::memcpy(bytes, left->text().data(), left->text().size());
  std::memcpy(bytes + left->length, right->text().data(), right->text().size());
  return str;
}

Array* nib_slice(const FaultSite* site, const Array* str, std::int64_t from, std::int64_t to) {
  if (from < 0 || to < from || to > str->length) nib_fail_with(site, from, to);
  const Rooted root(str);
  Array* const slice = new_array(*site, Kind::kBytes, to - from);
  std::memcpy(slice->elements(), str->text().data() + from, static_cast<std::size_t>(to - from));
  return slice;
}

Array* nib_chr(const FaultSite* site, std::int64_t byte) {
  if (byte < 0 || byte > UINT8_MAX) nib_fail_with(site, byte, 0);
  const char text = static_cast<char>(byte);
  return new_str(*site, {&text, 1});
}

Array* nib_str_of_int(const FaultSite* site, std::int64_t value) {
  return new_str(*site, NumberText(value).text());
}

Array* nib_str_of_bool(const FaultSite* site, std::int64_t value) {
  return new_str(*site, value != 0 ? "true" : "false");
}

Array* nib_str_of_float(const FaultSite* site, double value) {
  return new_str(*site, NumberText(value).text());
}

// The largest double has 309 digits in front of the point.
Array* nib_fixed(const FaultSite* site, double value, std::int64_t digits) {
  if (digits < 0 || digits > kMaxDigits) nib_fail_with(site, digits, kMaxDigits);
  char text[320 + kMaxDigits];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, static_cast<int>(digits));
  return new_str(*site, {text, static_cast<std::size_t>(end.ptr - text)});
}

std::int64_t nib_compare(const Array* left, const Array* right) {
  return left->text().compare(right->text());
}

}  // namespace nib
