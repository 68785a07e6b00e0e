#include <charconv>
#include <fstream>
#include <iterator>

#include "tests/readers/openj9/text.hpp"

namespace openj9_reader {
namespace {

class TemplateParser {
 public:
  explicit TemplateParser(std::string_view text) : rest_(text) {}

  // Empty: all is well.
  std::string parse(std::vector<Piece>& pieces) {
    while (!rest_.empty() && fault_.empty()) {
      const std::size_t percent = std::min(rest_.find('%'), rest_.size());
      Piece piece;
      piece.text = rest_.substr(0, percent);
      rest_.remove_prefix(percent);
      if (!rest_.empty()) take_conversion(piece);
      pieces.push_back(std::move(piece));
    }
    return fault_;
  }

 private:
  char next() const { return rest_.empty() ? '\0' : rest_.front(); }
  bool take(std::string_view words) {
    if (!rest_.starts_with(words)) return false;
    rest_.remove_prefix(words.size());
    return true;
  }
  unsigned take_number() {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    const auto size = static_cast<std::size_t>(end - rest_.data());
    if (error == std::errc::result_out_of_range || size > 10) fault_ = "a width that hangs the formatter";
    rest_.remove_prefix(size);
    return value;
  }
  void take_conversion(Piece& piece) {
    piece.has_prefix = piece.text.ends_with("0x") || piece.text.ends_with("0X");
    rest_.remove_prefix(1);
    piece.is_left = take("-");
    piece.has_zeros = take("0") && !piece.is_left;
    piece.width = take_number();
    bool has_length = false;
    if (take(".")) {
      has_length = take("*");
      if (!has_length) piece.precision = take_number();
    }
    const bool is_long = take("ll") || take("I64");
    const bool is_pointer = !is_long && !take("l") && take("z");
    piece.size = is_long ? 8 : is_pointer ? 0 : 4;
    take_letter(piece, has_length);
  }
  void take_letter(Piece& piece, bool has_length) {
    const char letter = next();
    if (letter == '\0' || std::string_view("diuxXpfgcs%").find(letter) == std::string_view::npos) {
      fault_ = std::string("a conversion that the formatter does not know: %") + letter;
      return;
    }
    rest_.remove_prefix(1);
    switch (letter) {
      case '%':
        piece.text += '%';
        return;
      case 's':
        piece.conversion = has_length ? 'S' : 's';
        return;
      case 'f':
      case 'g':
        piece.conversion = 'f';
        return;
      case 'i':
        piece.conversion = 'd';
        return;
      case 'X':
        piece.conversion = 'x';
        return;
      default:
        piece.conversion = letter;
    }
  }

  std::string_view rest_;
  std::string fault_;
};

class DatReader {
 public:
  explicit DatReader(Catalogue& catalogue) : catalogue_(catalogue) {}

  void read(std::string_view text) {
    if (take_line(text) != "5.1") fault("the first line is no version");
    while (!text.empty()) {
      const std::string_view line = take_line(text);
      if (line.empty()) {
        if (!text.empty()) fault("what is behind the empty line is not read");
        break;
      }
      take_row(line);
    }
    for (auto& [name, rows] : components_) catalogue_.components.emplace(name, std::move(rows));
  }

 private:
  void fault(std::string reason) { catalogue_.violations.push_back({line_, Rule::kDat, std::move(reason)}); }
  std::string_view take_line(std::string_view& text) {
    ++line_;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }
  static bool number(std::string_view text, int& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size();
  }
  void take_row(std::string_view line) {
    std::string_view fields[6];
    for (std::string_view& field : fields) {
      const std::size_t space = line.find(' ');
      if (space == line.npos || space == 0) return fault("six fields, one space between, then the text");
      field = line.substr(0, space);
      line.remove_prefix(space + 1);
    }
    if (line.size() < 2 || !line.starts_with('"') || !line.ends_with('"'))
      return fault("the text is not in quotes");
    Template row;
    const std::size_t point = fields[0].find('.');
    int at = -1;
    if (point == fields[0].npos || point == 0 || !number(fields[0].substr(point + 1), at))
      return fault("no component.number");
    if (!number(fields[1], row.type) || row.type < 0 || row.type > 12) return fault("no such type");
    if (!number(fields[3], row.level)) return fault("no level");
    if (fields[4] != "Y" && fields[4] != "N") fault("explicit is Y or N");
    row.symbol = fields[5];
    row.text = line.substr(1, line.size() - 2);
    place(std::string(fields[0].substr(0, point)), at, std::move(row));
  }
  void place(std::string component, int at, Template row) {
    if (component != last_ && components_.contains(component)) fault("a component in two places");
    auto& rows = components_[component];
    if (at != static_cast<int>(rows.size()) || at > 16126) fault("numbers are not 0, 1, 2 ... 16126");
    if (row.text.size() < 3) fault("an empty text");
    const bool is_entry = row.type == 2 || row.type == 3, is_exit = row.type == 4 || row.type == 5;
    const bool is_exception = row.type % 2 == 1 || row.type == 12;
    if (!row.text.starts_with(is_exception ? '*' : ' ') ||
        (row.text.size() > 1 && row.text[1] != (is_entry  ? '>'
                                                : is_exit ? '<'
                                                          : ' ')))
      fault("the marks in front are not the type's");
    if (const std::string why = TemplateParser(row.text).parse(row.pieces); !why.empty()) fault(why);
    rows.push_back(std::move(row));
    last_ = std::move(component);
  }

  Catalogue& catalogue_;
  std::map<std::string, std::vector<Template>> components_;
  std::string last_;
  std::uint64_t line_ = 0;
};

}  // namespace

const Template* Catalogue::find(const std::string& component, int number) const {
  const auto found = components.find(component);
  if (found == components.end() || number < 0 || static_cast<std::size_t>(number) >= found->second.size())
    return nullptr;
  return &found->second[static_cast<std::size_t>(number)];
}

void add_templates(std::string_view dat, Catalogue& catalogue) {
  DatReader(catalogue).read(dat);
}

Catalogue read_dat_file(const std::string& path) {
  Catalogue catalogue;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) catalogue.violations.push_back({0, Rule::kFileRead, path});
  add_templates(std::string(std::istreambuf_iterator<char>(stream), {}), catalogue);
  return catalogue;
}

}  // namespace openj9_reader
