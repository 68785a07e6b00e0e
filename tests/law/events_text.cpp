// Prints what is made of the table of runtime events (writer/model/runtime_event.def): `c`, the functions of
// <jitquill/events.h>; `markdown`, the table of docs/runtime-events.md. A program for developers, no part of
// the agent; tests/law/events.sh compares and writes.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t kWidth = 110;

enum class Type { kU8, kU16, kU32, kU64, kI64, kWord, kText, kBytes };

struct Field {
  Type type;
  std::string set;
  std::string name;
  std::string unit;
  std::string meaning;
};

struct Event {
  const char* name;
  const char* upper_name;
  int number;
  const char* says;
  std::vector<Field> fields;
};

struct Set {
  const char* set;
  const char* type;
  const char* prefix;
  const char* what;
};

struct Word {
  const char* set;
  const char* upper_name;
  int number;
  const char* words;
  const char* meaning;
};

#define FIELD(type, name, unit, meaning) {Type::type, "", #name, unit, meaning},
#define WORD(set, name, meaning) {Type::kWord, #set, #name, "", meaning},
#define TEXT(name, meaning) {Type::kText, "", #name, "", meaning},
#define BYTES(name, meaning) {Type::kBytes, "", #name, "", meaning},
#define RUNTIME_EVENT(name, c_name, C_NAME, number, words, says, fields) \
  {#c_name, #C_NAME, number, says, {fields}},
const Event kEvents[] = {
#include "writer/model/runtime_event.def"
};

#define WORD_SET(set, c_type, C_SET, what) {#set, #c_type, "JITQUILL_" #C_SET "_", what},
constexpr Set kSets[] = {
#include "writer/model/runtime_event.def"
};

#define EVENT_WORD(set, name, C_NAME, number, words, meaning) {#set, #C_NAME, number, words, meaning},
constexpr Word kWords[] = {
#include "writer/model/runtime_event.def"
};

const char* set_type(std::string_view set) {
  for (const Set& row : kSets) {
    if (set == row.set) return row.type;
  }
  return "?";
}

const char* prefix_of(std::string_view set) {
  for (const Set& row : kSets) {
    if (set == row.set) return row.prefix + std::strlen("JITQUILL_");
  }
  return "?";
}

std::string c_type(const Field& field) {
  constexpr const char* kTypes[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t", "int64_t"};
  return field.type == Type::kWord ? set_type(field.set) : kTypes[static_cast<std::size_t>(field.type)];
}

constexpr char kKeptBlank = '\x01';  // no line ends here

// In lines of at most kWidth that end at blanks.
void print_wrapped(const std::string& begin, const std::string& next, const std::string& text,
                   const std::string& end) {
  std::string line = begin;
  const auto print = [&] {
    for (char& c : line) c = c == kKeptBlank ? ' ' : c;
    std::printf("%s\n", line.c_str());
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    const std::size_t more = blank == text.size() ? end.size() : 0;
    if (line.size() + (blank - at) + more > kWidth) {
      while (line.back() == ' ') line.pop_back();
      print();
      line = next;
    }
    line += text.substr(at, blank - at) + (more == 0 ? " " : "");
    at = blank + 1;
  }
  while (line.back() == ' ') line.pop_back();
  line += end;
  print();
}

std::string words_of(const Word& word) {
  return word.words + (*word.meaning == '\0' ? std::string() : " (" + std::string(word.meaning) + ")");
}

void print_sets() {
  for (const Set& set : kSets) {
    std::printf("typedef enum %s { /* %s */\n", set.type, set.what);
    const Word* last = nullptr;
    for (const Word& word : kWords) last = std::string_view(word.set) == set.set ? &word : last;
    for (const Word& word : kWords) {
      if (std::string_view(word.set) != set.set) continue;
      std::printf("  %s%s = %d%s /* %s */\n", set.prefix, word.upper_name, word.number,
                  &word == last ? "" : ",", words_of(word).c_str());
    }
    std::printf("} %s;\n", set.type);
  }
}

void print_numbers() {
  std::printf("typedef enum jitquill_event {\n");
  std::string all;
  for (const Event& event : kEvents) {
    all += all.empty() ? "" : ", ";
    all += std::string("JITQUILL_EVENT_") + event.upper_name + kKeptBlank + "=" + kKeptBlank +
           std::to_string(event.number);
  }
  print_wrapped("  ", "  ", all, "");
  std::printf("} jitquill_event;\n");
}

std::string description(const Event& event) {
  std::string all = event.says;
  const char* before = ". ";
  for (const Field& field : event.fields) {
    if (field.meaning.empty() && field.unit.empty()) continue;
    all += before + field.name;
    if (!field.unit.empty()) all += " [" + field.unit + "]";
    if (!field.meaning.empty()) all += ": " + field.meaning;
    before = "; ";
  }
  return all + ".";
}

std::string kept(std::string text) {
  std::ranges::replace(text, ' ', kKeptBlank);
  return text;
}

struct Body {
  std::string parameters, members, values, text;
  bool is_bytes = false;
};

Body body_of(const Event& event) {
  Body body;
  for (const Field& field : event.fields) {
    if (!body.parameters.empty()) body.parameters += ", ";
    if (field.type == Type::kText || field.type == Type::kBytes) {
      body.is_bytes = field.type == Type::kBytes;
      body.text = field.name;
      body.parameters += body.is_bytes ? kept("const void* " + field.name) + ", " + kept("size_t size")
                                       : kept("const char* " + field.name);
      continue;
    }
    const bool is_word = field.type == Type::kWord;
    body.parameters += c_type(field) + kKeptBlank + field.name;
    body.members +=
        (body.members.empty() ? "" : "; ") + (is_word ? "uint8_t" : c_type(field)) + kKeptBlank + field.name;
    body.values += ", " + std::string(is_word ? "(uint8_t)" : "") + field.name;
  }
  return body;
}

std::string call_of(const Event& event, const Body& body) {
  const std::string name = event.upper_name;
  if (body.is_bytes) return "JITQUILL_TELL_BYTES(" + name + ", " + body.text + ", size);";
  if (body.members.empty() && body.text.empty()) return "JITQUILL_TELL_BYTES(" + name + ", NULL, 0);";
  if (body.members.empty()) return "JITQUILL_TELL_ONLY(" + name + ", " + body.text + ");";
  if (body.text.empty()) return "JITQUILL_TELL(" + name + ", " + body.members + body.values + ");";
  return "JITQUILL_TELL_TEXT(" + name + ", " + body.text + ", " + body.members + body.values + ");";
}

void print_function(const Event& event) {
  const Body body = body_of(event);
  const std::string begin = "static inline jitquill_status jitquill_" + std::string(event.name) + "(";
  const std::string parameters = body.parameters.empty() ? "void" : body.parameters;
  const std::string call = call_of(event, body);
  print_wrapped("/* ", " * ", description(event), " */");
  if (begin.size() + parameters.size() + call.size() + 8 <= kWidth) {
    print_wrapped(begin, "", parameters + ") { " + call, " }");
    return;
  }
  print_wrapped(begin, "    ", parameters, ") {");
  print_wrapped("  ", "      ", call, "");
  std::printf("}\n");
}

void print_c() {
  std::printf("/* clang-format off */\n");
  print_numbers();
  print_sets();
  for (const Event& event : kEvents) {
    if (event.number % 20 == 0 || event.number == 1) std::printf("\n");
    print_function(event);
  }
  std::printf("/* clang-format on */\n");
}

std::string fields_in_words(const Event& event) {
  constexpr const char* kTypes[] = {"u8", "u16", "u32", "u64", "i64", "", "text", "bytes"};
  std::string all;
  for (const Field& field : event.fields) {
    const bool is_word = field.type == Type::kWord;
    all += (all.empty() ? "`" : "; `") + field.name + "` ";
    all += is_word ? "u8, `" + std::string(set_type(field.set)) + "`" : kTypes[static_cast<int>(field.type)];
    if (!field.unit.empty()) all += ", " + field.unit;
    if (!field.meaning.empty()) all += ": " + field.meaning;
  }
  return all;
}

void print_markdown() {
  std::printf("\n| | `jitquill_` | says | fields |\n|---|---|---|---|\n");
  for (const Event& event : kEvents)
    std::printf("| %d | `%s` | %s | %s |\n", event.number, event.name, event.says,
                fields_in_words(event).c_str());
  std::printf("\n| `JITQUILL_` | | |\n|---|---|---|\n");
  for (const Word& word : kWords)
    std::printf("| `%s%s` | %d | %s |\n", prefix_of(word.set), word.upper_name, word.number,
                words_of(word).c_str());
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view form = argc == 2 ? argv[1] : "";
  if (form == "c") return print_c(), 0;
  if (form == "markdown") return print_markdown(), 0;
  std::fprintf(stderr, "events_text c|markdown\n");
  return 2;
}
