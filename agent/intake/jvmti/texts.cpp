#include "agent/intake/jvmti/texts.hpp"

#include <cstring>

namespace jitquill::intake::jvmti {
namespace {

struct Primitive {
  char letter;
  std::string_view name;
};
constexpr Primitive kPrimitives[] = {{'Z', "boolean"}, {'B', "byte"},  {'C', "char"},
                                     {'D', "double"},  {'F', "float"}, {'I', "int"},
                                     {'J', "long"},    {'S', "short"}, {'V', "void"}};
// Of a primitive type's letter with the comma behind it: nothing in a descriptor grows more.
constexpr std::size_t kGrowth = std::string_view("boolean,").size();

// Writes into room that was measured beforehand.
class Writer {
 public:
  explicit Writer(char* at) noexcept : at_(at) {}
  Writer& put(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  Writer& put_replaced(std::string_view text, char from, char to) noexcept {
    for (const char c : text) *at_++ = c == from ? to : c;
    return *this;
  }

 private:
  char* at_;  // the room was zeroed: so every text is ended
};

// "Ljava/util/Map;" -> "java/util/Map"
std::string_view inside(std::string_view signature) noexcept {
  if (signature.starts_with('L')) signature.remove_prefix(1);
  if (signature.ends_with(';')) signature.remove_suffix(1);
  return signature;
}

// substr() is not used here: it can throw, and brings the host's allocator with that.
std::string_view without_package(std::string_view name) noexcept {
  name.remove_prefix(name.rfind('/') + 1);  // npos + 1 = 0
  return name;
}

// The name of a type from the front of `descriptor`, which is shortened by it; empty: there is none.
std::string_view take_type(std::string_view& descriptor) noexcept {
  if (descriptor.starts_with('L')) {
    const std::size_t end = descriptor.find(';');
    if (end == descriptor.npos) return {};
    const std::string_view name = without_package({descriptor.data() + 1, end - 1});
    descriptor.remove_prefix(end + 1);
    return name;
  }
  for (const Primitive& primitive : kPrimitives) {
    if (!descriptor.starts_with(primitive.letter)) continue;
    descriptor.remove_prefix(1);
    return primitive.name;
  }
  return {};
}

void put_parameters(Writer& out, std::string_view descriptor) noexcept {
  if (descriptor.starts_with('(')) descriptor.remove_prefix(1);
  for (bool is_first = true; !descriptor.starts_with(')'); is_first = false) {
    std::size_t dimensions = 0;
    while (dimensions < descriptor.size() && descriptor[dimensions] == '[') ++dimensions;
    descriptor.remove_prefix(dimensions);
    const std::string_view type = take_type(descriptor);
    if (type.empty()) return;
    out.put(is_first ? "" : ",").put(type);
    for (; dimensions != 0; --dimensions) out.put("[]");
  }
}

}  // namespace

const char* method_name(Scratch& scratch, std::string_view class_signature, std::string_view method,
                        std::string_view descriptor) noexcept {
  const std::string_view owner = inside(class_signature);
  constexpr std::size_t kPunctuation = 4;  // ". ( )" and the end
  const auto room =
      scratch.take_array<char>(owner.size() + method.size() + kGrowth * descriptor.size() + kPunctuation);
  if (room.empty()) return nullptr;
  Writer out(room.data());
  out.put_replaced(owner, '/', '.').put(".").put(method).put("(");
  put_parameters(out, descriptor);
  out.put(")");
  return room.data();
}

const char* source_path(Scratch& scratch, std::string_view class_signature,
                        std::string_view source_file) noexcept {
  const std::string_view owner = inside(class_signature);
  constexpr std::string_view kClassFile = ".class";
  const auto room = scratch.take_array<char>(owner.size() + source_file.size() + kClassFile.size() + 1);
  if (room.empty()) return nullptr;
  Writer out(room.data());
  if (source_file.empty()) {
    out.put(owner).put(kClassFile);
  } else {
    out.put({owner.data(), owner.size() - without_package(owner).size()}).put(source_file);
  }
  return room.data();
}

}  // namespace jitquill::intake::jvmti
