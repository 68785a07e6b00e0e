// Events as V8 would never send them, and as it does, to a listener whose news ends here.
#include "agent/intake/v8/listener.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace jitquill;
using namespace jitquill::intake::v8;

struct Told {
  std::string name;
  std::string file;
  std::uint64_t address;
  std::size_t size;
  std::vector<Line> lines;
};

std::vector<Told> g_told;
std::vector<std::pair<std::uint64_t, std::uint64_t>> g_moves;
std::vector<std::uint64_t> g_unloads;
void* g_current = nullptr;  // isolate
int g_open_scopes = 0;

Status told_load(CodeLoad& load) {
  g_told.push_back({std::string(load.name),
                    load.file == nullptr ? "" : load.file,
                    load.address,
                    load.bytes.size(),
                    {load.lines.begin(), load.lines.end()}});
  return Status::kOk;
}
Status told_move(std::uint64_t from, std::uint64_t to) {
  g_moves.emplace_back(from, to);
  return Status::kOk;
}
Status told_unload(std::uint64_t address) {
  g_unloads.push_back(address);
  return Status::kOk;
}

// A script whose lines have ten characters, up to 100 of them.
constexpr int kLineLength = 10;
int line_of(const void*, int position) {
  EXPECT_EQ(g_open_scopes, 1);
  return position < 100 * kLineLength ? position / kLineLength : -1;
}
int column_of(const void*, int position) {
  return position % kLineLength;
}

constexpr std::uint64_t kCode = 0x7f0000001000;
constexpr std::size_t kSize = 0x100;

class V8Listener : public testing::Test {
 protected:
  void SetUp() override {
    g_told.clear();
    g_moves.clear();
    g_unloads.clear();
    g_current = isolate();
    Engine engine;
    engine.current_isolate = [] { return g_current; };
    engine.open_handles = [](void*, void*) { ++g_open_scopes; };
    engine.close_handles = [](void*) { --g_open_scopes; };
    engine.line_of = &line_of;
    engine.column_of = &column_of;
    listener_->use(engine);
  }
  void TearDown() override { EXPECT_EQ(g_open_scopes, 0); }

  static void* isolate(std::size_t number = 0) { return reinterpret_cast<void*>(0x5000 + number * 0x1000); }
  static CodeEvent event(CodeEvent::Type type) {
    CodeEvent event{};
    event.type = type;
    event.code_type = CodeEvent::kJit;
    event.start = kCode;
    event.size = kSize;
    event.user_data = reinterpret_cast<void*>(0xDEAD);  // V8 leaves garbage there
    event.script = &event_script_;
    event.isolate = isolate();
    return event;
  }
  static CodeEvent added(const std::string& name, std::uint64_t start = kCode) {
    CodeEvent added = event(CodeEvent::kAdded);
    added.start = start;
    added.name = {name.data(), name.size()};
    return added;
  }

  void hear(CodeEvent heard) { listener_->hear(heard); }
  void* start() {
    CodeEvent start = event(CodeEvent::kStartPositions);
    listener_->hear(start);
    return start.user_data;
  }
  void position(void* handle, std::size_t offset, std::size_t at) {
    CodeEvent position = event(CodeEvent::kPosition);
    position.user_data = handle;
    position.position = {offset, at, 0};
    hear(position);
  }
  void end(void* handle, std::uint64_t code = kCode) {
    CodeEvent end = event(CodeEvent::kEndPositions);
    end.user_data = handle;
    end.start = code;
    end.size = 1ul << 40;  // V8 leaves garbage there
    hear(end);
  }

  static inline int event_script_ = 0;
  std::unique_ptr<Listener> listener_ =
      std::make_unique<Listener>(Tell{&told_load, &told_move, &told_unload});
};

const std::string kHot = "JS:*hot /home/me/a.js:6:13";

TEST_F(V8Listener, TellsNamePlaceAndLines) {
  void* const handle = start();
  position(handle, 0, 55);
  position(handle, 0, 56);  // of the same instruction
  position(handle, 8, 72);
  position(handle, 0x20, 55);
  end(handle);
  hear(added(kHot));
  ASSERT_EQ(g_told.size(), 1u);
  const Told& told = g_told[0];
  EXPECT_EQ(told.name, kHot);
  EXPECT_EQ(told.file, "/home/me/a.js");
  EXPECT_EQ(told.address, kCode);
  EXPECT_EQ(told.size, kSize);
  ASSERT_EQ(told.lines.size(), 3u);
  EXPECT_EQ(told.lines[0].line, 6u);
  EXPECT_EQ(told.lines[0].column, 6u);
  EXPECT_EQ(told.lines[1].offset, 8u);
  EXPECT_EQ(told.lines[1].line, 8u);
  EXPECT_EQ(told.lines[2].line, 6u);
}

// V8 10 names the isolate only of code that is added.
TEST_F(V8Listener, NeedsNoIsolateBeforeTheFunctionComes) {
  void* handle = nullptr;
  for (const auto type : {CodeEvent::kStartPositions, CodeEvent::kPosition, CodeEvent::kEndPositions}) {
    CodeEvent bare = event(type);
    bare.isolate = nullptr;
    bare.user_data = handle;
    if (type == CodeEvent::kPosition) bare.position = {0, 55, 0};
    listener_->hear(bare);
    handle = bare.user_data;
  }
  hear(added(kHot));
  EXPECT_EQ(g_told.at(0).lines.size(), 1u);
}

TEST_F(V8Listener, TellsMovesAndRemovals) {
  CodeEvent moved = event(CodeEvent::kMoved);
  moved.new_start = kCode + 0x4000;
  hear(moved);
  EXPECT_EQ(g_moves, (std::vector<std::pair<std::uint64_t, std::uint64_t>>{{kCode, kCode + 0x4000}}));
  hear(event(CodeEvent::kRemoved));
  EXPECT_EQ(g_unloads, std::vector<std::uint64_t>{kCode});
}

TEST_F(V8Listener, TellsNothingOfBytecode) {
  for (const auto type : {CodeEvent::kAdded, CodeEvent::kMoved, CodeEvent::kRemoved}) {
    CodeEvent bytecode = event(type);
    bytecode.code_type = CodeEvent::kBytecode;
    bytecode.name = {"Script:~ a.js", 13};
    hear(bytecode);
  }
  EXPECT_TRUE(g_told.empty() && g_moves.empty() && g_unloads.empty());
}

TEST_F(V8Listener, TellsWasmWithoutLines) {
  CodeEvent start = event(CodeEvent::kStartPositions);
  start.code_type = CodeEvent::kWasm;
  hear(start);
  listener_->hear(start);
  EXPECT_EQ(start.user_data, nullptr);
  position(start.user_data, 0, 55);
  end(start.user_data);
  const std::string name = "f /a:1:1";
  CodeEvent wasm = added(name);
  wasm.code_type = CodeEvent::kWasm;
  hear(wasm);
  ASSERT_EQ(g_told.size(), 1u);
  EXPECT_TRUE(g_told[0].lines.empty());
}

TEST_F(V8Listener, AsksForLinesOnlyOnTheIsolatesThread) {
  for (void* const current : {isolate(1), static_cast<void*>(nullptr)}) {
    void* const handle = start();
    position(handle, 0, 55);
    end(handle);
    g_current = current;
    hear(added(kHot));
    EXPECT_TRUE(g_told.back().lines.empty());
  }
}

TEST_F(V8Listener, HasNoLinesOfOtherCode) {
  void* const handle = start();
  position(handle, 0, 55);
  end(handle, kCode + 0x1000);
  hear(added(kHot));
  EXPECT_TRUE(g_told.back().lines.empty());
  hear(added(kHot, kCode + 0x1000));
  EXPECT_EQ(g_told.back().lines.size(), 1u);
}

TEST_F(V8Listener, DropsPositionsThatCannotBe) {
  void* const handle = start();
  position(handle, 0, 55);
  position(handle, 4, 5000);    // behind the script's end: inlined from a longer one
  position(handle, 8, ~0ul);    // -1
  position(handle, 2, 77);      // backwards is fine as long as it is behind the last that was kept
  position(handle, 1, 78);      // this is not
  position(handle, kSize, 79);  // behind the code
  position(handle, 1ul << 40, 80);
  end(handle);
  hear(added(kHot));
  ASSERT_EQ(g_told[0].lines.size(), 2u);
  EXPECT_EQ(g_told[0].lines[1].offset, 2u);
}

TEST_F(V8Listener, RefusesCodeWithoutAPlace) {
  struct Place {
    std::uint64_t start;
    std::size_t size;
  };
  for (const Place place :
       {Place{0, 16}, {kCode, 0}, {kCode, ~0ul}, {kCode, kMaxCodeSize + 1}, {~0ul - 4, 16}}) {
    CodeEvent event = added(kHot, place.start);
    event.size = place.size;
    hear(event);
    event.type = CodeEvent::kMoved;
    hear(event);
  }
  EXPECT_TRUE(g_told.empty() && g_moves.empty());
}

TEST_F(V8Listener, ReadsNamesWithoutFaults) {
  CodeEvent event = added(kHot);
  event.name = {nullptr, 100};
  hear(event);
  EXPECT_EQ(g_told.back().name, "");
  g_told.clear();
  event.name = {reinterpret_cast<const char*>(0x10), 100};
  hear(event);
  EXPECT_TRUE(g_told.empty());
  event.name = {kHot.data(), 0};
  hear(event);
  EXPECT_EQ(g_told.back().name, "");
  const std::string long_name(100'000, 'x');
  hear(added(long_name));
  EXPECT_GT(g_told.back().name.size(), 4096u);  // so that outputs count it as cut
  EXPECT_LT(g_told.back().name.size(), 5000u);
}

TEST_F(V8Listener, SurvivesEventsInAnyOrder) {
  std::mt19937_64 random(11);
  const std::uint64_t kOdd[] = {0, 1, 2, 5, 33, 0x7fffffff, kCode, kCode + 8, ~0ul, ~0ul - 3};
  const auto odd = [&] { return kOdd[random() % std::size(kOdd)]; };
  for (int i = 0; i < 200'000; ++i) {
    CodeEvent event{};
    event.type = static_cast<std::int32_t>(random() % 8);
    event.code_type = static_cast<std::int32_t>(random() % 4);
    event.start = odd();
    event.size = odd();
    event.user_data = reinterpret_cast<void*>(odd());
    event.script = random() % 2 == 0 ? nullptr : &event_script_;
    event.position = {odd(), odd(), 0};
    event.isolate = isolate(random() % 3);
    hear(event);
  }
  for (const Told& told : g_told) {
    for (const Line& line : told.lines) EXPECT_LT(line.offset, told.size);
  }
}

TEST(V8Engine, KnowsTheVersionsThatWereTried) {
  for (const char* known :
       {"10.2.154.26-node.37", "11.3.244.8-node.38", "12.4.254.21", "13.6.233.17-node.63"})
    EXPECT_TRUE(is_known_version(known)) << known;
  for (const char* unknown :
       {"", "x", "11", "11.", "9.4.146", "10.1.0", "13.7.1", "14.0.1", "99999999999.1", "-1.2"})
    EXPECT_FALSE(is_known_version(unknown)) << unknown;
}

}  // namespace
