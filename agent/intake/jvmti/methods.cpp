#include "agent/intake/jvmti/methods.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>

#include "agent/intake/hash.hpp"
#include "agent/intake/jvmti/texts.hpp"
#include "writer/bytes/names.hpp"

namespace jitquill::intake::jvmti {
namespace {

constexpr std::int32_t kMostLines = 65536;  // of a method

// Memory that the VM hands to us, to be given back.
template <class T>
class FromVm {
 public:
  explicit FromVm(Env& env) noexcept : env_(env) {}
  ~FromVm() {
    if (at != nullptr) (void)Deallocate(env_)(&env_, at);
  }
  FromVm(const FromVm&) = delete;
  FromVm& operator=(const FromVm&) = delete;

  T* at = nullptr;

 private:
  Env& env_;
};

std::string_view view_of(const FromVm<char>& text) noexcept {
  return text.at == nullptr ? std::string_view{} : std::string_view(text.at, strnlen(text.at, kNameToRead));
}

}  // namespace

std::uint32_t Method::line_at(std::int64_t bytecode) const noexcept {
  if (lines.empty()) return 0;
  const auto after =
      std::upper_bound(lines.begin(), lines.end(), bytecode,
                       [](std::int64_t wanted, const LineStart& start) { return wanted < start.bytecode; });
  const LineStart& found = after == lines.begin() ? lines.front() : *(after - 1);
  return found.line < 0 ? 0 : static_cast<std::uint32_t>(found.line);
}

const Method* Methods::find(MethodId id) noexcept {
  if (id == nullptr) return nullptr;
  if (slots_.empty()) slots_ = scratch_.take_array<Slot>(kSlots);
  if (slots_.empty()) return nullptr;
  Slot& slot = *slot_of(id);
  if (slot.id == nullptr) {
    if (count_ == kMost) return nullptr;
    ++count_;
    slot = {id, ask(id)};
  }
  return slot.method;
}

Methods::Slot* Methods::slot_of(MethodId id) noexcept {
  std::size_t at = mixed(reinterpret_cast<std::uintptr_t>(id)) % kSlots;
  while (slots_[at].id != nullptr && slots_[at].id != id) at = (at + 1) % kSlots;
  return &slots_[at];
}

const Method* Methods::ask(MethodId id) noexcept {
  FromVm<char> name(env_);
  FromVm<char> descriptor(env_);
  FromVm<char> signature(env_);
  FromVm<char> source(env_);
  ClassRef owner = nullptr;
  if (GetMethodName(env_)(&env_, id, &name.at, &descriptor.at, nullptr) != 0 ||
      GetMethodDeclaringClass(env_)(&env_, id, &owner) != 0 ||
      GetClassSignature(env_)(&env_, owner, &signature.at, nullptr) != 0)
    return nullptr;
  if (GetSourceFileName(env_)(&env_, owner, &source.at) != 0) source.at = nullptr;  // has none
  void* const memory = scratch_.take(sizeof(Method));
  if (memory == nullptr) return nullptr;
  auto* const method = new (memory) Method;
  method->name = method_name(scratch_, view_of(signature), view_of(name), view_of(descriptor));
  method->file = source_path(scratch_, view_of(signature), view_of(source));
  method->lines = ask_lines(id);
  return method->name == nullptr || method->file == nullptr ? nullptr : method;
}

// The VM's table may come in any order.
std::span<const LineStart> Methods::ask_lines(MethodId id) noexcept {
  FromVm<LineStart> table(env_);
  std::int32_t count = 0;
  if (GetLineNumberTable(env_)(&env_, id, &count, &table.at) != 0) {
    table.at = nullptr;
    return {};
  }
  if (table.at == nullptr || count <= 0) return {};
  const auto lines = scratch_.take_array<LineStart>(static_cast<std::size_t>(std::min(count, kMostLines)));
  std::copy_n(table.at, lines.size(), lines.begin());
  std::sort(lines.begin(), lines.end(),
            [](const LineStart& a, const LineStart& b) { return a.bytecode < b.bytecode; });
  return lines;
}

}  // namespace jitquill::intake::jvmti
