#include "writer/text/event_text.hpp"

#include "writer/bytes/byte_source.hpp"
#include "writer/bytes/decimal.hpp"
#include "writer/bytes/names.hpp"
#include "writer/model/runtime_event.hpp"

namespace jitquill {
namespace {

void put_signed(std::uint64_t bits, Bytes& out) noexcept {
  const bool is_negative = static_cast<std::int64_t>(bits) < 0;
  if (is_negative) out.u8('-');
  out.raw(Decimal(is_negative ? 0 - bits : bits).view());
}

void put_number(const EventField& field, std::uint64_t number, Bytes& out) noexcept {
  const std::string_view words =
      field.type == FieldType::kWord ? word_of(field.words, number) : std::string_view();
  if (!words.empty()) {
    out.raw(words);
    return;
  }
  field.type == FieldType::kI64 ? put_signed(number, out) : (void)out.raw(Decimal(number).view());
  if (!field.unit.empty()) out.u8(' ').raw(field.unit);
}

void put_field(const RuntimeEvent& event, std::size_t place, Bytes& out) noexcept {
  const EventField& field = event.row()->fields[place];
  if (field.type == FieldType::kText) {
    (void)put_clean(out, event.text());
  } else if (field.type == FieldType::kBytes) {
    out.raw(Decimal(event.text().size()).view()).raw(std::string_view(" bytes"));
  } else {
    if (field.type != FieldType::kWord) out.raw(field.name).u8(' ');
    put_number(field, event.number(place), out);
  }
}

}  // namespace

void put_post(const Post& post, Bytes& out) noexcept {
  const RuntimeEvent event(post);
  if (post.event == kTracePointPost) {
    ByteSource source(post.payload);
    const std::uint64_t point = source.uleb128();
    out.raw(std::string_view("trace point "));
    (void)put_clean(out, source.text());
    out.u8('.').raw(Decimal(point).view());
    return;
  }
  if (event.row() == nullptr) {
    out.raw(std::string_view("event ")).raw(Decimal(post.event).view());
    out.raw(std::string_view(", ")).raw(Decimal(post.payload.size()).view()).raw(std::string_view(" bytes"));
    return;
  }
  out.raw(event.row()->words);
  for (std::size_t i = 0; i < event.row()->fields.size(); ++i) {
    out.raw(std::string_view(i == 0 ? ": " : ", "));
    put_field(event, i, out);
  }
}

}  // namespace jitquill
