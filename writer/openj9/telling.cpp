// What runtimes tell: each of the table's events is a trace point, by its place there.
#include <algorithm>
#include <iterator>

#include "writer/model/runtime_event.hpp"
#include "writer/openj9/sink.hpp"

namespace jitquill::openj9 {
namespace {

constexpr std::size_t kFirstTold = static_cast<std::size_t>(Point::kPosted) + 1;

// Rare, and the first that is asked for after a failure.
constexpr bool is_to_last(Point point) noexcept {
  constexpr Point kAll[] = {Point::kGcRequestedTold,   Point::kGcBeginTold,      Point::kGcSyncedTold,
                            Point::kGcEndTold,         Point::kGcStatisticsTold, Point::kConcurrentBeginTold,
                            Point::kConcurrentEndTold, Point::kHeapInfoTold,     Point::kRuntimeNamedTold,
                            Point::kRuntimeMessageTold};
  return std::ranges::find(kAll, point) != std::end(kAll);
}

void put_field(const RuntimeEvent& event, std::size_t place, ParameterType type,
               Parameters<kHost>& parameters) noexcept {
  const EventField& field = event.row()->fields[place];
  if (field.type == FieldType::kText) return parameters.put(type, event.text());
  if (field.type == FieldType::kBytes) return parameters.put(type, std::uint64_t{event.text().size()});
  const std::uint64_t number = event.number(place);
  if (field.type != FieldType::kWord) return parameters.put(type, number);
  const std::string_view word = word_of(field.words, number);
  parameters.put(type, word.empty() ? std::string_view("?") : word);
}

}  // namespace

// Its parameters are put already, by whoever knows the texts; they are shorter than any entry may be.
void Openj9Sink::put_registered(const Here& here, std::uint64_t ticks, const Post& post) noexcept {
  ByteSource source(post.payload);
  const auto point = static_cast<std::uint32_t>(source.uleb128(kMostNumber));
  const std::string_view component = source.text();
  if (source.failed() || !is_component_name(component)) return;
  const EntryHead<kHost> head(component, point);
  (void)here.trace.put(ticks, head, post.payload.last(source.left()), here.out);
}

void Openj9Sink::put_post(const Here& here, std::uint64_t ticks, const Post& post) noexcept {
  if (post.event == kTracePointPost) return put_registered(here, ticks, post);
  const RuntimeEvent event(post);
  if (event.row() == nullptr)
    return put<Point::kPosted>(here, ticks, post.event, static_cast<std::uint32_t>(post.payload.size()));
  const auto place = static_cast<std::size_t>(event.row() - runtime_event_rows().data());
  const auto point = static_cast<Point>(kFirstTold + place);
  if (!wants(point)) return;
  const EntryHead<kHost>& head = head_of<kHost>(point);
  const Signature& signature = row_of(point).signature;
  parameters_.clear();
  Parameters<kHost> parameters(signature, ThreadTrace::most_parameters(type_, head), parameters_);
  for (std::size_t i = 0; i < signature.count; ++i) put_field(event, i, signature.types[i], parameters);
  if (parameters.status() != Status::kOk) ++losses_.texts_cut;
  const Here there = is_to_last(point) ? to_last(here, ticks) : here;
  (void)there.trace.put(ticks, head, parameters_.view(), there.out);
}

}  // namespace jitquill::openj9
