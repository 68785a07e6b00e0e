#include "writer/openj9/dat.hpp"

#include "writer/bytes/decimal.hpp"
#include "writer/openj9/trace_point.hpp"

namespace jitquill::openj9 {
namespace {

bool is_exception(PointType type) noexcept {
  return static_cast<std::uint8_t>(type) % 2 == 1;
}

char arrow_of(PointType type) noexcept {
  if (type == PointType::kEntry || type == PointType::kEntryException) return '>';
  return type == PointType::kExit || type == PointType::kExitException ? '<' : ' ';
}

// Their texts are the engine's own business; two of them are in traces of ours.
void put_internal_lines(Bytes& out) noexcept {
  for (std::uint32_t i = 0; i <= kThreadEndNumber; ++i) {
    const std::string_view text = i == kContextNumber     ? "of thread %p"
                                  : i == kThreadEndNumber ? "end of the thread's trace"
                                                          : "internal";
    put_dat_line("dg", i, PointType::kDebug, 1, "internal", text, out);
  }
}

}  // namespace

void put_dat_version(Bytes& out) noexcept {
  out.raw(std::string_view("5.1\n"));
}

// component.number type overhead level explicit symbol "PAtext"
void put_dat_line(std::string_view component, std::uint32_t number, PointType type, std::uint8_t level,
                  std::string_view symbol, std::string_view text, Bytes& out) noexcept {
  out.raw(component).u8('.').raw(Decimal(number).view()).u8(' ');
  out.raw(Decimal(static_cast<std::uint8_t>(type)).view()).raw(std::string_view(" 1 "));
  out.raw(Decimal(level).view()).raw(std::string_view(" N Trc_"));
  out.raw(component).u8('_').raw(symbol).raw(std::string_view(" \""));
  out.u8(is_exception(type) ? '*' : ' ').u8(static_cast<std::uint8_t>(arrow_of(type)));
  out.raw(text).raw(std::string_view("\"\n"));
}

void put_dat(Bytes& out) noexcept {
  put_dat_version(out);
  for (const PointRow& row : kPointRows) {
    const std::string_view symbol(row.name.data() + 1, row.name.size() - 1);  // without its k
    put_dat_line(row.component, row.number, row.type, row.level, symbol, row.text, out);
  }
  put_internal_lines(out);
}

}  // namespace jitquill::openj9
