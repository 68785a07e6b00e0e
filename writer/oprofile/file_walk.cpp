#include "writer/oprofile/file_walk.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "writer/oprofile/opened.hpp"

namespace jitquill::oprofile {
namespace {

constexpr RuleText kTexts[] = {
#define FILE_RULE(id, name, weight, readers) {name, RuleWeight::weight, "", readers},
#include "writer/oprofile/file_rule.def"
#undef FILE_RULE
};

constexpr std::uint64_t kNoteTypes[] = {1, 2, 4, 8, 16};
constexpr std::uint64_t kMostState = 2;
constexpr std::uint64_t kNoteWords = 6, kHeadWords = 3, kSampleWords = 4;

void walk_notes(const FileView& view, FileVisitor& visitor) noexcept {
  const std::uint64_t w = view.width();
  std::uint64_t at = view.data_at();
  for (; view.size() - at >= kNoteWords * w; at += kNoteWords * w) {
    const std::uint64_t type = view.number(at + 5 * w);
    if (std::ranges::find(kNoteTypes, type) == std::end(kNoteTypes)) visitor.found(at, FileRule::kNoteType);
    const std::uint64_t path = view.is_nil(at + 3 * w) ? kUnknownPath : view.number(at + 3 * w);
    visitor.note(at,
                 {.address = view.number(at),
                  .length = view.number(at + w),
                  .offset = view.number(at + 2 * w),
                  .path = path,
                  .pid = view.number(at + 4 * w)},
                 type);
  }
  if (at != view.size()) visitor.found(at, FileRule::kTorn);
}

void walk_samples(const FileView& view, FileVisitor& visitor) noexcept {
  const std::uint64_t w = view.width();
  std::uint64_t at = view.data_at();
  while (view.size() - at >= kHeadWords * w) {
    const std::uint64_t count = view.number(at + w), state = view.number(at + 2 * w);
    if (count > (view.size() - at - kHeadWords * w) / (kSampleWords * w)) break;
    if (state > kMostState) visitor.found(at, FileRule::kState);
    visitor.buffer(at, view.number(at), state, count);
    at += kHeadWords * w;
    for (std::uint64_t i = 0; i < count; ++i, at += kSampleWords * w) {
      visitor.sample(at, {.address = view.number(at),
                          .count = view.number(at + w),
                          .counter = view.number(at + 2 * w),
                          .pid = view.number(at + 3 * w)});
    }
  }
  if (at != view.size()) visitor.found(at, FileRule::kTorn);
}

}  // namespace

const RuleText& text_of(FileRule rule) noexcept {
  return kTexts[static_cast<std::size_t>(rule)];
}

bool FileView::read_header(std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::size_t kMajorAt = 4, kWidthAt = 6;
  const auto kind = kind_of(bytes);
  if (!kind || bytes.size() < kFixedHeaderSize || bytes[kMajorAt] != kMajor) return false;
  if (bytes.size() - kFixedHeaderSize < bytes[kWidthAt]) return false;
  const auto words = Words::in_order(bytes.subspan(kFixedHeaderSize, bytes[kWidthAt]));
  if (!words) return false;
  bytes_ = bytes;
  words_ = *words;
  kind_ = *kind;
  return true;
}

std::uint64_t FileView::number(std::uint64_t at) const noexcept {
  constexpr Number kMost = std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(std::min(words_.load(bytes_.data() + at), kMost));
}

std::string_view FileView::text(std::uint64_t at, std::uint64_t size) const noexcept {
  return {reinterpret_cast<const char*>(bytes_.data()) + at, size};
}

void walk_streams(const FileView& view, FileVisitor& visitor) noexcept {
  if (view.kind() == Kind::kNotes)
    walk_notes(view, visitor);
  else
    walk_samples(view, visitor);
}

bool is_file(std::span<const std::uint8_t> bytes) noexcept {
  return kind_of(bytes).has_value();
}

void walk_view(const FileView& view, FileVisitor& visitor) noexcept {
  using Walk = void (*)(const FileView&, FileVisitor&) noexcept;
  constexpr Walk kWalks[] = {&walk_streams, &walk_streams, &walk_hash_map, &walk_database};
  kWalks[static_cast<std::size_t>(view.kind())](view, visitor);
}

void walk_file(std::span<const std::uint8_t> bytes, FileVisitor& visitor) noexcept {
  FileView view;
  if (!view.read_header(bytes)) return visitor.found(0, FileRule::kHeader);
  walk_view(view, visitor);
}

void FirstFault::look_at(std::span<const std::uint8_t> file, Kind kind, FileView& view) noexcept {
  if (!view.read_header(file) || view.kind() != kind) return found(0, FileRule::kHeader);
  walk_view(view, *this);
}

void FirstFault::found(std::uint64_t at, FileRule rule) {
  if (opened_.status == Status::kOk && !text_of(rule).is_note()) opened_ = {Status::kBadArgument, rule, at};
}

}  // namespace jitquill::oprofile
