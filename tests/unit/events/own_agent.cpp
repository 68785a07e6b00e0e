#define JITQUILL_BUILDING
#include "tests/unit/events/own_agent.hpp"

#include <jitquill/events.h>

#include <cstring>
#include <utility>

namespace own_agent {
namespace {

std::uint32_t wanted = 0;
std::vector<Told> told;

const std::uint32_t* wanted_events() {
  return &wanted;
}

jitquill_status post(std::uint32_t event, const void* payload, std::size_t size) {
  const auto* const bytes = static_cast<const std::uint8_t*>(payload);
  told.push_back({event, {bytes, bytes + size}});
  return JITQUILL_OK;
}

jitquill_status post_text(std::uint32_t event, const void* fields, std::size_t size, const char* text,
                          std::size_t most) {
  post(event, fields, size);
  told.back().payload.insert(told.back().payload.end(), text, text + strnlen(text, most));
  return JITQUILL_OK;
}

jitquill_functions made_table() {
  jitquill_functions table{};
  table.struct_size = sizeof table;
  table.jitquill_wanted_events = wanted_events;
  table.jitquill_post = post;
  table.jitquill_post_text = post_text;
  return table;
}

}  // namespace

void want(bool events) {
  wanted = events ? 1 : 0;
}

std::vector<Told> take() {
  return std::exchange(told, {});
}

}  // namespace own_agent

extern "C" const jitquill_functions jitquill_functions_v1 = own_agent::made_table();
