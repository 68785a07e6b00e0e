#include "agent/cli/oprofile.hpp"

#include <cinttypes>
#include <cstdio>

#include "agent/cli/words.hpp"
#include "writer/oprofile/file_walk.hpp"
#include "writer/oprofile/pages.hpp"

namespace jitquill::cli {
namespace {

using oprofile::FileRule;

std::string index_text(std::uint64_t index, std::uint64_t none) {
  return index == none ? "none" : std::to_string(index);
}

const char* name_of_note(std::uint64_t type) {
  switch (type) {
    case 1:
      return "fork";
    case 2:
      return "map";
    case 4:
      return "exec";
    case 8:
      return "drop modules";
    case 16:
      return "exit";
    default:
      return "unknown note";
  }
}

class Shower final : public oprofile::FileVisitor {
 public:
  explicit Shower(std::uint64_t limit) : limit_(limit) {}

  void note(std::uint64_t at, const oprofile::Mapping& note, std::uint64_t type) override {
    if (!begin(at)) return;
    std::printf("%s process %" PRIu64, name_of_note(type), note.pid);
    if (type == 1) std::printf(", child %" PRIu64, note.address);
    if (type == 2 || type == 4)
      std::printf(", 0x%" PRIx64 " %s, offset 0x%" PRIx64 ", path %s", note.address,
                  counted(note.length, "byte").c_str(), note.offset,
                  index_text(note.path, oprofile::kUnknownPath).c_str());
    std::printf("\n");
  }
  void buffer(std::uint64_t at, std::uint64_t cpu, std::uint64_t state, std::uint64_t samples) override {
    static constexpr const char* kStates[] = {"stopped", "stopping", "running"};
    if (begin(at))
      std::printf("cpu %" PRIu64 " %s, %s\n", cpu, state < 3 ? kStates[state] : "in no state",
                  counted(samples, "sample").c_str());
  }
  void sample(std::uint64_t at, const oprofile::Sample& sample) override {
    if (begin(at))
      std::printf("  0x%" PRIx64 " %s, counter %" PRIu64 ", process %" PRIu64 "\n", sample.address,
                  counted(sample.count, "hit").c_str(), sample.counter, sample.pid);
  }
  void path(std::uint64_t index, std::string_view path) override {
    if (is_within()) std::printf("%8" PRIu64 " %s\n", index, plain(path).c_str());
  }
  void tree(const oprofile::TreeSizes& sizes) override {
    std::printf("%s of %" PRIu64 " entries, %" PRIu64 " in use, root %s\n",
                counted(sizes.pages, "page").c_str(), sizes.page_entries, sizes.in_use,
                index_text(sizes.root, oprofile::kNoPage).c_str());
  }
  void count(std::uint64_t at, std::uint64_t key, std::uint64_t count) override {
    if (begin(at)) std::printf("0x%" PRIx64 " %" PRIu64 "\n", key, count);
  }
  void found(std::uint64_t at, FileRule rule) override {
    if (begin(at)) std::printf("%s: %s\n", text_of(rule).name, text_of(rule).consequence);
  }

 private:
  bool is_within() { return limit_ == 0 || shown_++ < limit_; }
  bool begin(std::uint64_t at) {
    if (!is_within()) return false;
    std::printf("0x%08" PRIx64 " ", at);
    return true;
  }

  std::uint64_t limit_;
  std::uint64_t shown_ = 0;
};

class Checker final : public oprofile::FileVisitor {
 public:
  Checker(const std::string& file, std::uint64_t limit) : file_(file), limit_(limit) {}

  void note(std::uint64_t, const oprofile::Mapping&, std::uint64_t) override { ++records_; }
  void buffer(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) override { ++records_; }
  void path(std::uint64_t, std::string_view) override { ++records_; }
  void count(std::uint64_t, std::uint64_t, std::uint64_t) override { ++records_; }
  void found(std::uint64_t at, FileRule rule) override {
    const RuleText& text = text_of(rule);
    ++(text.is_note() ? notes_ : wrong_);
    if (limit_ != 0 && printed_ == limit_) return;
    std::printf("%s: offset 0x%" PRIx64 ": %s%s (%s)\n", file_.c_str(), at, text.is_note() ? "note: " : "",
                text.name, text.consequence);
    ++printed_;
  }
  int end() const {
    if (wrong_ + notes_ > printed_)
      std::printf("%s: %" PRIu64 " more; --limit 0 shows them\n", file_.c_str(), wrong_ + notes_ - printed_);
    std::printf("%s: %s, %" PRIu64 " wrong, %s\n", file_.c_str(), counted(records_, "record").c_str(), wrong_,
                counted(notes_, "note").c_str());
    return wrong_ != 0 ? kViolations : 0;
  }

 private:
  const std::string& file_;
  std::uint64_t limit_;
  std::uint64_t records_ = 0, wrong_ = 0, notes_ = 0, printed_ = 0;
};

}  // namespace

bool is_oprofile(std::span<const std::uint8_t> bytes) {
  return oprofile::is_file(bytes);
}

void show_oprofile(std::span<const std::uint8_t> bytes, std::uint64_t limit) {
  Shower shower(limit);
  walk_file(bytes, shower);
}

int check_oprofile(const std::string& shown, std::span<const std::uint8_t> bytes, std::uint64_t limit) {
  Checker checker(shown, limit);
  walk_file(bytes, checker);
  return checker.end();
}

}  // namespace jitquill::cli
