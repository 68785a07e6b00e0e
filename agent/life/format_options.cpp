#include "agent/life/format_options.hpp"

#include <algorithm>

#include "agent/base/text_pieces.hpp"
#include "agent/life/dir_template.hpp"
#include "agent/life/option_values.hpp"
#include "writer/sink/sink.hpp"

namespace jitquill {

std::uint32_t bit_of_format(std::string_view format) noexcept {
  const auto rows = sink_rows();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const SinkRow& r) { return r.name == format; });
  return row == rows.end() ? 0 : 1u << (row - rows.begin());
}

const char* set_eventlog_own(Options& options, std::string_view value) noexcept {
  return set_flag(options.run.eventlog_own, value);
}

const char* set_eventlog_level(Options& options, std::string_view value) noexcept {
  constexpr std::string_view kWords[] = {
#define EVENTLOG_LEVEL(name, word, readers) word,
#include "writer/sink/eventlog_level.def"
#undef EVENTLOG_LEVEL
  };
  return choose(options.run.eventlog_level, kWords, value) ? nullptr : "no such GHC; help=1 lists them";
}

const char* set_eventlog_messages(Options& options, std::string_view value) noexcept {
  return set_flag(options.run.eventlog_messages, value);
}

const char* set_eventlog_profile(Options& options, std::string_view value) noexcept {
  bool ticky = false, samples = false;
  while (value != "none" && !value.empty()) {
    const std::string_view name = first(value, value.find(','));
    if (name != "ticky" && name != "samples") return "must be none, or a list of ticky and samples";
    (name == "ticky" ? ticky : samples) = true;
    value = without_first(value, name.size() + 1);
  }
  options.run.eventlog_ticky = ticky;
  options.run.eventlog_samples = samples;
  return nullptr;
}

const char* set_eventlog_interval(Options& options, std::string_view value) noexcept {
  constexpr std::uint64_t kNsPerMs = 1'000'000, kMost = 10'000;
  std::uint64_t ms = 0;
  if (!read_number(value, ms) || ms == 0 || ms > kMost) return "must be a number of ms, 1 to 10000";
  options.run.eventlog_interval_ns = ms * kNsPerMs;
  return nullptr;
}

const char* set_eventlog_to(Options& options, std::string_view value) noexcept {
  StreamTarget target;
  if (const char* const why = target.set(value); why != nullptr) return why;
  if (!dir_template::is_good(target.path.view())) return kWordsOfPaths;
  target.format = target.kind == StreamTarget::Kind::kFile ? 0 : bit_of_format("eventlog");
  options.stream = target;
  return nullptr;
}

const char* set_openj9_select(Options& options, std::string_view value) noexcept {
  return options.run.openj9_select.set(value);
}

const char* set_openj9_type(Options& options, std::string_view value) noexcept {
  return choose(options.run.openj9_internal, {"external", "internal"}, value)
             ? nullptr
             : "must be external or internal";
}

}  // namespace jitquill
