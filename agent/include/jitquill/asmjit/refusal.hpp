// The reasons for which a function is announced without unwinding, as values and as text.
//
// Context   any; plain values.
#pragma once

#include <cstdint>

namespace jitquill {

enum class Refusal : std::uint32_t {
#define REFUSAL(name, text) name,
#include <jitquill/asmjit/refusals.def>
#undef REFUSAL
};

// One sentence, constant.
inline const char* refusal_text(Refusal refusal) noexcept {
  switch (refusal) {
#define REFUSAL(name, text) \
  case Refusal::name:       \
    return text;
#include <jitquill/asmjit/refusals.def>
#undef REFUSAL
  }
  return "unknown refusal";
}

}  // namespace jitquill
