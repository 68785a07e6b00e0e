#include "writer/openj9/header.hpp"

#include <algorithm>

namespace jitquill::openj9 {
namespace {

constexpr std::uint32_t kVersion = 5;
constexpr std::uint32_t kSignature = 0x12345678;
constexpr std::uint32_t kJ9Timer = 7;
constexpr std::size_t kSectionHead = 16;
constexpr std::size_t kFileHead = 48, kTraceSize = 48, kProcessorSize = 80;
constexpr std::size_t kMostTexts = std::size_t{1} << 30;

constexpr std::size_t up_to(std::size_t alignment, std::size_t size) noexcept {
  return (size + alignment - 1) / alignment * alignment;
}

// What is in front of a text's first NUL.
std::string_view first_text(std::string_view text) noexcept {
  return {text.data(), std::min(text.find('\0'), text.size())};
}

// With a NUL at the end, if there is anything.
std::size_t size_of_texts(std::string_view texts) noexcept {
  return texts.size() + (texts.empty() || texts.back() == '\0' ? 0 : 1);
}

struct Sizes {
  std::size_t service, startup, active;
  std::size_t all() const noexcept {
    return kFileHead + kTraceSize + service + startup + active + kProcessorSize;
  }
};

Sizes sizes_of(const Header& header) noexcept {
  Sizes sizes{kSectionHead + up_to(4, first_text(header.service).size() + 1),
              kSectionHead + up_to(4, size_of_texts(header.startup)),
              kSectionHead + up_to(4, size_of_texts(header.active))};
  sizes.active += up_to(8, sizes.all()) - sizes.all();  // empty strings are skipped there
  return sizes;
}

// | eyecatcher | length of the section | version | modification |
template <Target kTarget>
void put_section(Fields<kTarget>& out, std::string_view eyecatcher, std::size_t size) noexcept {
  out.raw(eyecatcher).u32(static_cast<std::uint32_t>(size)).u32(kVersion).u32(0);
}

template <Target kTarget>
void put_texts(Fields<kTarget>& out, std::string_view eyecatcher, std::string_view texts,
               std::size_t size) noexcept {
  put_section(out, eyecatcher, size);
  out.raw(texts).zeros(size - kSectionHead - texts.size());
}

template <Target kTarget>
void put_trace(Fields<kTarget>& out, const Header& header) noexcept {
  put_section(out, "UTTS", kTraceSize);
  out.u64(header.clock.start_ticks).u64(header.clock.start_ms);
  out.u32(static_cast<std::uint32_t>(header.type)).u32(header.generations);
  out.u32(kTarget.pointer_size).u32(0);
}

template <Target kTarget>
void put_processor(Fields<kTarget>& out, const Header& header) noexcept {
  put_section(out, "UTPR", kProcessorSize);
  put_section(out, "PINF", kProcessorSize - kSectionHead);
  out.u32(header.architecture).u32(kTarget.order == std::endian::big ? 1 : 0);
  out.u32(header.word_size).u32(header.processors);
  put_section(out, std::string_view("PIN\0", 4), 24);
  out.u32(header.subtype).u32(kJ9Timer).u32(header.page_size).u32(0);
}

}  // namespace

template <Target kTarget>
Status put_header(const Header& header, Bytes& out) noexcept {
  if (header.record_size < Header::kLeastRecord || header.record_size % 8 != 0 ||
      header.record_size > kMostTexts || header.service.size() > kMostTexts ||
      header.startup.size() > kMostTexts || header.active.size() > kMostTexts / 2)
    return Status::kTooLarge;
  const Sizes sizes = sizes_of(header);
  std::uint8_t* const room = out.reserve(sizes.all());
  if (room == nullptr) return Status::kNoMemory;
  Fields<kTarget> fields(room);
  put_section(fields, "UTTH", sizes.all());
  fields.u32(header.record_size).u32(kSignature);
  std::uint32_t at = kFileHead;
  for (const std::size_t size : {kTraceSize, sizes.service, sizes.startup, sizes.active, kProcessorSize}) {
    fields.u32(at);
    at += static_cast<std::uint32_t>(size);
  }
  fields.u32(0);
  put_trace(fields, header);
  put_texts(fields, "UTSS", first_text(header.service), sizes.service);
  put_texts(fields, "UTSO", header.startup, sizes.startup);
  put_texts(fields, "UTTA", header.active, sizes.active);
  put_processor(fields, header);
  out.put_up_to(Cursor(fields.at()));
  return Status::kOk;
}

template Status put_header<Target{std::endian::little, 4}>(const Header&, Bytes&) noexcept;
template Status put_header<Target{std::endian::little, 8}>(const Header&, Bytes&) noexcept;
template Status put_header<Target{std::endian::big, 4}>(const Header&, Bytes&) noexcept;
template Status put_header<Target{std::endian::big, 8}>(const Header&, Bytes&) noexcept;

}  // namespace jitquill::openj9
