#include "writer/sink/function_texts.hpp"

#include "writer/bytes/names.hpp"

namespace jitquill {
namespace {

constexpr FunctionNumber kMostFunctions = 1u << 28;  // a number beyond is damage, not a program

void put_text(Bytes& out, std::string_view text) noexcept {
  out.uleb128(text.size()).raw(text);
}

}  // namespace

bool FunctionTexts::define(const FunctionInfo& function) noexcept {
  return keep(function.number, function.name, function.file, function.line);
}

bool FunctionTexts::keep(FunctionNumber number, std::string_view name, std::string_view file,
                         std::uint32_t line) noexcept {
  if (number >= kMostFunctions) return false;
  const std::size_t at = chars_.size();
  (void)put_clean(chars_, name);
  const std::size_t name_size = chars_.size() - at;
  (void)put_clean(chars_, file);
  if (chars_.failed()) return false;
  const Text text{at, static_cast<std::uint32_t>(name_size),
                  static_cast<std::uint32_t>(chars_.size() - at - name_size), line};
  if (!texts_.grow_to(number + std::size_t{1}, Text{}) || !in_order_.push(number)) return false;
  texts_[number] = text;
  return true;
}

std::string_view FunctionTexts::chars(std::uint64_t at, std::size_t size) const noexcept {
  return {reinterpret_cast<const char*>(chars_.view().data()) + at, size};
}

std::string_view FunctionTexts::name(FunctionNumber number) const noexcept {
  if (number >= texts_.size() || texts_[number].name_size == 0) return "?";
  return chars(texts_[number].at, texts_[number].name_size);
}

std::string_view FunctionTexts::file(FunctionNumber number) const noexcept {
  if (number >= texts_.size()) return {};
  return chars(texts_[number].at + texts_[number].name_size, texts_[number].file_size);
}

std::uint32_t FunctionTexts::line(FunctionNumber number) const noexcept {
  return number < texts_.size() ? texts_[number].line : 0;
}

void FunctionTexts::put_from(std::size_t first, Bytes& state) noexcept {
  state.uleb128(in_order_.size() - first);
  for (std::size_t i = first; i < in_order_.size(); ++i) {
    const FunctionNumber number = in_order_[i];
    state.uleb128(number).uleb128(line(number));
    put_text(state, name(number));
    put_text(state, file(number));
  }
  put_ = in_order_.size();
}

void FunctionTexts::put_new(Bytes& state) noexcept {
  put_from(put_, state);
}

void FunctionTexts::put_all(Bytes& state) noexcept {
  put_from(0, state);
}

bool FunctionTexts::apply(ByteSource& state) noexcept {
  const std::uint64_t count = state.uleb128();
  for (std::uint64_t i = 0; i < count && !state.failed(); ++i) {
    const std::uint64_t number = state.uleb128(kMostFunctions - 1);
    const std::uint64_t line = state.uleb128(0xFFFFFFFF);
    const std::string_view name = state.text();
    const std::string_view file = state.text();
    if (state.failed()) return false;
    if (!keep(static_cast<FunctionNumber>(number), name, file, static_cast<std::uint32_t>(line)))
      return false;
  }
  put_ = in_order_.size();
  return !state.failed();
}

}  // namespace jitquill
