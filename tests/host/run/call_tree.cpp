#include "tests/host/run/call_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace run_files {

using calls_reader::Call;
using calls_reader::kNone;
using calls_reader::Thread;

// Calls come in the order of their entries, so what is open in the text is the way to the newest.
std::string tree(const Thread& thread, unsigned stack) {
  std::string text;
  std::vector<std::size_t> way;
  bool is_next = false;  // to the newest, not inside it
  for (std::size_t i = 0; i < thread.calls.size(); ++i) {
    const Call& call = thread.calls[i];
    if (stack != kEachStack && call.stack != stack) continue;
    const bool is_inside =
        call.caller != kNone && (stack == kEachStack || thread.calls[call.caller].stack == stack);
    const std::size_t caller = is_inside ? call.caller : kNone;
    while (!way.empty() && way.back() != caller) {
      if (is_next) text += ')';
      is_next = true;
      way.pop_back();
    }
    if (!text.empty()) text += way.empty() || is_next ? " " : "(";
    text += call.name;
    if (!call.how.empty()) text += '!' + call.how;
    way.push_back(i);
    is_next = false;
  }
  for (std::size_t i = 1; i < way.size(); ++i) text += ')';
  return text;
}

const Thread& only_thread(const calls_reader::File& file) {
  static const Thread kNothing;
  const Thread* found = nullptr;
  for (const auto& [name, thread] : file.threads) {
    if (thread.calls.empty()) continue;
    EXPECT_EQ(found, nullptr) << "another: " << name;
    found = &thread;
  }
  EXPECT_NE(found, nullptr) << "no thread with calls";
  return found != nullptr ? *found : kNothing;
}

std::string difference(const std::string& is, const std::string& should_be) {
  if (is == should_be) return {};
  const auto [at, other] = std::mismatch(is.begin(), is.end(), should_be.begin(), should_be.end());
  const auto place = static_cast<std::size_t>(at - is.begin());
  const std::size_t from = place < 200 ? 0 : place - 200;
  return "at " + std::to_string(place) + " of " + std::to_string(is.size()) + " and " +
         std::to_string(should_be.size()) + "\nis        ..." + is.substr(from, 400) + "\nshould be ..." +
         should_be.substr(std::min(from, should_be.size()), 400);
}

}  // namespace run_files
