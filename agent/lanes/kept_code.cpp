#include "agent/lanes/kept_code.hpp"

#include <cstring>
#include <new>

#include "agent/base/arena.hpp"
#include "agent/base/load_copy.hpp"

namespace jitquill {
namespace {

constexpr std::size_t kNodeSize = 128;  // bounds a node of std::set: value, three links and a colour

}  // namespace

const char* Texts::intern(const char* text) noexcept {
  if (text == nullptr) return nullptr;
  if (last_ != nullptr && std::strcmp(text, last_) == 0) return last_;
  if (set_ == nullptr) set_ = new (std::nothrow) Set;
  if (set_ == nullptr) return nullptr;
  const std::string_view wanted = text;
  if (const auto found = set_->find(wanted); found != set_->end()) return last_ = found->data();
  auto* copy = static_cast<char*>(::operator new(wanted.size() + 1, std::nothrow));
  if (copy == nullptr || !arena().can_serve(kNodeSize)) {
    ::operator delete(copy);
    return nullptr;
  }
  std::memcpy(copy, text, wanted.size() + 1);
  set_->emplace(copy, wanted.size());
  return last_ = copy;
}

void Texts::clear() noexcept {
  if (set_ == nullptr) return;
  for (const std::string_view text : *set_) ::operator delete(const_cast<char*>(text.data()));
  delete set_;
  set_ = nullptr;
  last_ = nullptr;
}

KeptCode* KeptCode::keep(const CodeLoad& load, Texts& files) noexcept {
  CodeLoad wanted = load;
  wanted.bytes = {};
  LoadCopy measure(nullptr);
  (void)measure.copy(wanted, [](const char*) -> const char* { return nullptr; });
  void* block = ::operator new(sizeof(KeptCode) + measure.size(), std::nothrow);
  if (block == nullptr) return nullptr;
  auto* kept = new (block) KeptCode;
  LoadCopy copy(reinterpret_cast<unsigned char*>(kept + 1));
  kept->load_ = copy.copy(wanted, [&](const char* file) { return files.intern(file); });
  return kept;
}

void KeptCode::forget(KeptCode* kept) noexcept {
  ::operator delete(kept);
}

CodeLoad KeptCode::load() const noexcept {
  return load_;
}

}  // namespace jitquill
