#include "agent/cli/flame_page.hpp"

#include "agent/cli/flame_template.hpp"
#include "agent/cli/words.hpp"
#include "writer/bytes/utf8.hpp"

namespace jitquill::cli {
namespace {

constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";

std::string in_utf8(std::string_view text) {
  Bytes shown;
  (void)put_utf8(shown, text, ~std::size_t{0});
  return plain({reinterpret_cast<const char*>(shown.view().data()), shown.size()});
}

std::string in_markup(std::string_view text) {
  std::string shown;
  for (const char c : in_utf8(text)) {
    if (c == '&')
      shown += "&amp;";
    else if (c == '<')
      shown += "&lt;";
    else if (c == '>')
      shown += "&gt;";
    else if (c == '"')
      shown += "&quot;";
    else
      shown += c;
  }
  return shown;
}

// Of text without control characters. No `<`: the script that has it would end at </script>.
void put_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// {"unit":, "names": [...], "frames": [depth, name, own, ...]}
std::string data_of(const FoldedFile& file, std::string_view unit) {
  std::string out = "{\"unit\":";
  put_json(out, in_utf8(unit));
  out += ",\n\"names\":[";
  for (const std::string& name : file.names) {
    out += &name == file.names.data() ? "" : ",\n";
    put_json(out, name);
  }
  out += "],\n\"frames\":[";
  for (const FoldedFrame& frame : file.frames) {
    out += &frame == file.frames.data() ? "" : ",\n";
    out += std::to_string(frame.depth) + ',' + std::to_string(frame.name) + ',' + std::to_string(frame.own);
  }
  return out + "]}";
}

}  // namespace

// From one mark to the next, so that nothing is looked for in what was put.
std::string flame_page(const FoldedFile& file, std::string_view title, std::string_view unit) {
  const std::string shown_title = in_markup(title), data = data_of(file, unit);
  std::string page;
  page.reserve(kFlameTemplate.size() + data.size());
  for (std::string_view rest = kFlameTemplate; !rest.empty();) {
    const std::size_t at = rest.find('@');
    page += rest.substr(0, at);
    if (at == rest.npos) break;
    rest.remove_prefix(at);
    if (rest.starts_with(kTitle)) {
      page += shown_title;
      rest.remove_prefix(kTitle.size());
    } else if (rest.starts_with(kData)) {
      page += data;
      rest.remove_prefix(kData.size());
    } else {
      page += '@';
      rest.remove_prefix(1);
    }
  }
  return page;
}

}  // namespace jitquill::cli
