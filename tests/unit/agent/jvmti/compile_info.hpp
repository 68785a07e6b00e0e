// The record of a compiled method as HotSpot hands it out, and a place for its code.
//
// Context   tests. Each part may be spoilt before use.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "agent/intake/jvmti/stretches.hpp"

namespace jitquill::intake::jvmti {

class CompileInfo {
 public:
  using Frame = std::pair<MethodId, std::int32_t>;
  struct Place {
    std::uint32_t end;          // from the start of the code
    std::vector<Frame> frames;  // the innermost first
  };

  explicit CompileInfo(const std::vector<Place>& listed) {
    for (const Place& place : listed) {
      auto& methods = methods_.emplace_back();
      auto& bytecodes = bytecodes_.emplace_back();
      for (const auto& [method, bytecode] : place.frames) {
        methods.push_back(method);
        bytecodes.push_back(bytecode);
      }
      places.push_back(
          {at(place.end), static_cast<std::int32_t>(place.frames.size()), methods.data(), bytecodes.data()});
    }
    record.head = {kInlineRecord, kRecordMajor, 0, nullptr};
    record.count = static_cast<std::int32_t>(places.size());
    record.places = places.data();
  }
  CompileInfo(const CompileInfo&) = delete;
  CompileInfo& operator=(const CompileInfo&) = delete;

  // Nothing is read from there.
  const void* at(std::uint64_t offset) const { return reinterpret_cast<const void*>(kCode + offset); }

  CompiledMethod compiled(MethodId method, std::uint32_t size) const {
    return {method, kCode, size, nullptr, 0, &record};
  }

  std::vector<InlinePlace> places;
  InlineRecord record{};

 private:
  static constexpr std::uint64_t kCode = 0x7000'0000'0000;

  std::deque<std::vector<MethodId>> methods_;
  std::deque<std::vector<std::int32_t>> bytecodes_;
};

}  // namespace jitquill::intake::jvmti
