// A runtime's own trace points (writer/sink/trace_component.hpp).
#include <algorithm>
#include <new>

#include "writer/bytes/growing_array.hpp"
#include "writer/openj9/dat.hpp"
#include "writer/openj9/entry.hpp"
#include "writer/openj9/parameters.hpp"
#include "writer/openj9/trace_point.hpp"
#include "writer/sink/trace_component.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kMostText = 1000;
constexpr std::size_t kMostSymbol = 64;
constexpr std::uint32_t kMostLevel = 9;
constexpr std::string_view kNull = "[Null Pointer]";

// Null: a format data file may have it.
const char* fault_of_name(std::string_view name) noexcept {
  if (!is_component_name(name)) return "a component's name is 1 to 32 letters, digits and _";
  const bool is_ours =
      std::ranges::any_of(kPointRows, [&](const PointRow& row) { return row.component == name; });
  return is_ours || name == "dg" ? "jq, jqm and dg are components of jitquill and of the format" : nullptr;
}

bool is_symbol(std::string_view name) noexcept {
  if (name.size() > kMostSymbol) return false;
  for (std::size_t at = 0; at < name.size(); at += 32) {
    if (!is_component_name({name.data() + at, std::min<std::size_t>(32, name.size() - at)})) return false;
  }
  return !name.empty();
}

const char* fault_of(const TracePointText& point, Signature& signature) noexcept {
  if (!is_symbol(point.name)) return "a trace point's name is 1 to 64 letters, digits and _";
  if (point.type > kMostPointType) return "a trace point's type is none of the list's";
  if (point.level > kMostLevel) return "a trace point's level is 0 to 9";
  if (point.text.size() > kMostText) return "a trace point's text has more than 1000 bytes";
  const Parsed parsed = parse_template(point.text);
  signature = parsed.signature;
  return parsed.fault;
}

bool is_text(ParameterType type) noexcept {
  return type == ParameterType::kText || type == ParameterType::kAscii;
}

bool fits(ParameterType type, TraceValue::Kind kind) noexcept {
  if (is_text(type)) return kind == TraceValue::Kind::kText;
  if (type == ParameterType::kDouble) return kind == TraceValue::Kind::kDouble;
  return kind == TraceValue::Kind::kSigned || kind == TraceValue::Kind::kUnsigned;
}

class Component final : public TraceComponent {
 public:
  // Null: taken.
  const char* take(std::string_view name, const Points& points, std::size_t& at) noexcept {
    at = points.count;
    if (const char* const fault = fault_of_name(name)) return fault;
    if (points.count == 0 || points.count > kMostNumber + std::size_t{1})
      return "a component has 1 to 16127 trace points";
    put_dat_version(dat_);
    name.copy(name_, sizeof name_);
    name_size_ = name.size();
    for (at = 0; at < points.count; ++at) {
      const TracePointText point = points.at(points.from, at);
      Row row{};
      if (const char* const fault = fault_of(point, row.signature)) return fault;
      row.level = static_cast<std::uint8_t>(point.level);
      is_whole_ = rows_.push(row) && is_whole_;
      put_dat_line(this->name(), static_cast<std::uint32_t>(at), static_cast<PointType>(point.type),
                   row.level, point.name, point.text, dat_);
    }
    return nullptr;
  }
  bool is_whole() const noexcept { return is_whole_ && !dat_.failed(); }

  std::string_view name() const noexcept override { return {name_, name_size_}; }
  std::span<const std::uint8_t> dat() const noexcept override { return dat_.view(); }
  std::size_t size() const noexcept override { return rows_.size(); }
  int level_of(std::size_t point) const noexcept override { return rows_[point].level; }
  Status put(std::size_t point, std::span<const TraceValue> values, Bytes& out) const noexcept override;

 private:
  struct Row {
    Signature signature;
    std::uint8_t level;
  };
  char name_[EntryHead<kHost>::kMostName] = {};
  std::size_t name_size_ = 0;
  GrowingArray<Row> rows_;
  Bytes dat_;
  bool is_whole_ = true;
};

Status Component::put(std::size_t point, std::span<const TraceValue> values, Bytes& out) const noexcept {
  if (point >= rows_.size()) return Status::kBadArgument;
  const Signature& signature = rows_[point].signature;
  if (values.size() != signature.count) return Status::kBadArgument;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!fits(signature.types[i], values[i].kind)) return Status::kBadArgument;
  }
  out.uleb128(point).uleb128(name_size_).raw(name());
  Parameters<kHost> parameters(signature, kMostPayload - out.size(), out);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ParameterType type = signature.types[i];
    if (is_text(type))
      parameters.put(type, values[i].text.data() == nullptr ? kNull : values[i].text);
    else if (type == ParameterType::kChar)
      parameters.put(type, values[i].bits < 0x80 ? static_cast<char>(values[i].bits) : '?');
    else
      parameters.put(type, values[i].bits);
  }
  return out.failed() ? Status::kTooLarge : parameters.status();
}

}  // namespace
}  // namespace jitquill::openj9

namespace jitquill {

TraceComponent::Made TraceComponent::make(std::string_view name, const Points& points) noexcept {
  auto* const made = new (std::nothrow) openj9::Component;
  if (made == nullptr) return {nullptr, nullptr, 0};
  std::size_t at = 0;
  const char* const fault = made->take(name, points, at);
  if (fault == nullptr && made->is_whole()) return {made, nullptr, 0};
  delete made;
  return {nullptr, fault, at};
}

}  // namespace jitquill
