#include "tests/readers/openj9/header.hpp"

namespace openj9_reader {
namespace {

constexpr std::uint64_t kSectionHead = 16;
constexpr std::uint32_t kSignature = 0x12345678;

class HeaderReader {
 public:
  HeaderReader(std::string_view bytes, Header& header, const Report& report)
      : file_(bytes, is_big(bytes)), header_(header), report_(report) {}

  bool read() {
    header_.is_big = file_.is_big();
    if (file_.u32(20) != kSignature) return refuse(20, "the endian signature is none");
    if (!take_section(0, "UTTH", 48)) return false;
    header_.size = file_.u32(4);
    header_.record_size = file_.u32(16);
    // The tool reads 192 bytes of each record's header.
    if (header_.record_size < 192 || header_.record_size > 1u << 30)
      return refuse(16, "a record has " + std::to_string(header_.record_size) + " bytes");
    if (file_.u32(44) != 0) refuse(44, "the padding is not 0");
    return take_trace(file_.u32(24)) && take_texts(file_.u32(28), "UTSS", service_) &&
           take_texts(file_.u32(32), "UTSO", header_.startup) &&
           take_texts(file_.u32(36), "UTTA", header_.active) && take_processor(file_.u32(40)) &&
           take_service();
  }

 private:
  static bool is_big(std::string_view bytes) { return Source(bytes, true).u32(20) == kSignature; }
  bool refuse(std::uint64_t at, std::string reason) const {
    report_(at, Rule::kHeader, std::move(reason));
    return false;
  }
  bool take_section(std::uint64_t at, std::string_view eyecatcher, std::uint32_t least) {
    const std::string name(eyecatcher);
    if (file_.text(at, 4) != eyecatcher) return refuse(at, name + " is not there");
    const std::uint32_t length = file_.u32(at + 4);
    if (length < least || !file_.has(at, length)) return refuse(at + 4, name + " has a wrong length");
    if (at != 0 && at + length > header_.size) return refuse(at + 4, name + " leaves the header");
    if (length % 4 != 0) return refuse(at + 4, name + " is not padded to 4 bytes");
    if (file_.u32(at + 8) != 5 || file_.u32(at + 12) != 0)
      return refuse(at + 8, name + " is not of version 5.0");
    return true;
  }
  bool take_trace(std::uint64_t at) {
    if (!take_section(at, "UTTS", 44)) return false;
    header_.start_ticks = file_.u64(at + 16);
    header_.start_ms = file_.u64(at + 24);
    const std::uint32_t type = file_.u32(at + 32);
    header_.is_internal = type == 0;
    header_.generations = file_.u32(at + 36);
    header_.pointer_size = file_.u32(at + 40);
    if (header_.start_ticks == 0) report_(at + 16, Rule::kScale, "the clock starts at 0");
    if (header_.start_ms == 0) report_(at + 24, Rule::kScale, "no real time");
    if (type > 1) return refuse(at + 32, "unknown type");
    if (header_.pointer_size != 4 && header_.pointer_size != 8)
      return refuse(at + 40, "pointers are 4 or 8 bytes");
    return true;
  }
  bool take_texts(std::uint64_t at, std::string_view eyecatcher, std::vector<std::string>& texts) {
    if (!take_section(at, eyecatcher, kSectionHead)) return false;
    std::string text;
    const std::uint64_t end = at + file_.u32(at + 4);
    for (at += kSectionHead; at < end; ++at) {
      const char c = file_.text(at, 1)[0];
      if (c != '\0') {
        text += c;
        continue;
      }
      if (!text.empty()) texts.push_back(std::move(text));
      text.clear();
    }
    return text.empty() || refuse(end, "a string has no end");
  }
  bool take_service() {
    header_.service = service_.empty() ? "" : service_.front();
    return service_.size() <= 1 || refuse(28, "the service section has two strings");
  }
  bool take_processor(std::uint64_t at) {
    if (!take_section(at, "UTPR", 80)) return false;
    if (file_.text(at + 16, 4) != "PINF" || file_.u32(at + 20) != 64) return refuse(at + 16, "no PINF");
    if (file_.text(at + 48, 4) != std::string_view("PIN\0", 4) || file_.u32(at + 52) != 24)
      return refuse(at + 48, "no PIN");
    header_.architecture = file_.u32(at + 32);
    header_.says_big = file_.u32(at + 36);
    header_.word_size = file_.u32(at + 40);
    header_.processors = file_.u32(at + 44);
    header_.subtype = file_.u32(at + 64);
    header_.counter = file_.u32(at + 68);
    if (header_.architecture > 8) return refuse(at + 32, "unknown architecture");
    if (header_.subtype > 14) return refuse(at + 64, "unknown processor");
    if (header_.counter > 7) return refuse(at + 68, "unknown clock");
    if (header_.counter != 7) report_(at + 68, Rule::kScale, "a clock that is no J9 timer");
    return true;
  }

  Source file_;
  Header& header_;
  const Report& report_;
  std::vector<std::string> service_;
};

}  // namespace

bool read_header(std::string_view bytes, Header& header, const Report& report) {
  return HeaderReader(bytes, header, report).read();
}

}  // namespace openj9_reader
