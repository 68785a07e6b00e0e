#include "writer/gdbobj/sink.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/unit/writer/failing_new.hpp"
#include "tests/unit/writer/object_reader.hpp"

namespace jitquill {
namespace {

using tests::NoMemoryHere;
using tests::ObjectReader;
using tests::SourcePlace;
using tests::Symbol;

// What a debugger knows that listens all the time.
class Debugger final : public ObjectRegistry {
 public:
  void publish(ObjectEntry& entry) noexcept override {
    ++events;
    EXPECT_TRUE(objects.insert({&entry, {entry.image, entry.image + entry.image_size}}).second);
  }
  void withdraw(ObjectEntry& entry) noexcept override {
    ++events;
    EXPECT_EQ(objects.count(&entry), 1u);
    const std::vector<std::uint8_t>& read = objects.at(&entry);
    EXPECT_TRUE(std::equal(read.begin(), read.end(), entry.image)) << "changed while it was published";
    objects.erase(&entry);
  }
  std::set<Symbol> symbols() const {
    std::set<Symbol> all;
    for (const auto& [entry, image] : objects) {
      const ObjectReader reader(image);
      const std::set<Symbol> named = reader.symbols();
      EXPECT_EQ(named, reader.scopes());
      for (const Symbol& symbol : named) EXPECT_TRUE(all.insert(symbol).second) << symbol.name;
    }
    return all;
  }
  // The reader of the only object.
  const std::vector<std::uint8_t>& only() const {
    EXPECT_EQ(objects.size(), 1u);
    return objects.begin()->second;
  }

  std::map<const ObjectEntry*, std::vector<std::uint8_t>> objects;
  std::uint64_t events = 0;
};

class NoFolder final : public Folder {
 public:
  int create(const char*) noexcept override {
    ADD_FAILURE() << "a file was made";
    return -1;
  }
  void remove(const char*) noexcept override { ADD_FAILURE() << "a file was removed"; }
};

const std::vector<std::uint8_t> kCode(4096, 0x90);
// push rbx at 1, sub rsp, 0x20 at 5, add at 9, pop at 10.
const FrameEvent kFrame[] = {{1, FrameEventKind::kPush, 3, 0},
                             {5, FrameEventKind::kAllocate, 0, 0x20},
                             {9, FrameEventKind::kFree, 0, 0x20},
                             {10, FrameEventKind::kPop, 3, 0}};
const Line kLines[] = {
    {2, 7, 3, nullptr}, {4, 900, 0, "/src/other.nib"}, {4, 8, 0, nullptr}, {11, 6, 1, nullptr}};

// Points to the name.
CodeLoad function(std::string_view name, std::uint64_t address, std::uint64_t size = 12) {
  CodeLoad load;
  load.address = address;
  load.bytes = std::span(kCode).first(size);
  load.name = name;
  load.file = "/src/one.nib";
  load.lines = kLines;
  load.unwinding = Unwinding::from_events(kFrame);
  return load;
}

CodeMove moved(std::uint64_t from, std::uint64_t to, std::uint64_t size) {
  CodeMove move;
  move.from = from;
  move.to = to;
  move.size = size;
  return move;
}

class GdbSink : public testing::Test {
 protected:
  GdbSink() { EXPECT_EQ(sink->begin({}, {folder, &debugger}), Status::kOk); }
  Status load(const CodeLoad& load) {
    written = {};
    return sink->load(load, written);
  }

  NoFolder folder;
  Debugger debugger;
  std::unique_ptr<Sink> sink{make_gdb_sink()};
  Written written;
};

TEST_F(GdbSink, ALoadIsAnObjectWithSymbolLinesAndFrame) {
  ASSERT_EQ(load(function("one", 0x7F0000001000)), Status::kOk);
  EXPECT_EQ(written.bytes, debugger.only().size());
  const ObjectReader reader(debugger.only());
  EXPECT_EQ(reader.symbols(), (std::set<Symbol>{{"one", 0x7F0000001000, 12}}));
  EXPECT_EQ(reader.scopes(), reader.symbols());
  // The first row reaches back to the start; of two rows with one offset the last holds.
  for (const std::uint64_t offset : {0u, 1u, 3u})
    EXPECT_EQ(reader.source_of(0x7F0000001000 + offset), (SourcePlace{"/src/one.nib", 7, 3})) << offset;
  EXPECT_EQ(reader.source_of(0x7F0000001004), (SourcePlace{"/src/one.nib", 8, 0}));
  EXPECT_EQ(reader.source_of(0x7F000000100B), (SourcePlace{"/src/one.nib", 6, 1}));
  EXPECT_EQ(reader.source_of(0x7F000000100C), std::nullopt);
  const std::uint64_t expected[] = {8, 16, 16, 16, 16, 48, 48, 48, 48, 16, 8, 8};
  for (std::uint64_t offset = 0; offset < 12; ++offset)
    EXPECT_EQ(reader.cfa_above_rsp(0x7F0000001000 + offset), expected[offset]) << offset;
  EXPECT_EQ(reader.cfa_above_rsp(0x7F000000100C), std::nullopt);
  EXPECT_EQ(reader.cfa_above_rsp(0x7F0000000FFF), std::nullopt);
}

TEST_F(GdbSink, WhatIsNotKnownHasNoSection) {
  CodeLoad plain = function("plain", 0x1000);
  plain.lines = {};
  plain.unwinding = {};
  ASSERT_EQ(load(plain), Status::kOk);
  const ObjectReader reader(debugger.only());
  EXPECT_EQ(reader.scopes(), (std::set<Symbol>{{"plain", 0x1000, 12}}));
  EXPECT_FALSE(reader.has_section(".eh_frame"));
  EXPECT_FALSE(reader.has_section(".debug_line"));
  EXPECT_TRUE(reader.has_section(".symtab"));
  EXPECT_EQ(reader.source_of(0x1000), std::nullopt);
  EXPECT_EQ(reader.cfa_above_rsp(0x1000), std::nullopt);
}

TEST_F(GdbSink, BadPartsAreLeftOutAndTheRestIsThere) {
  const Line descending[] = {{4, 1, 0, nullptr}, {2, 1, 0, nullptr}};
  const FrameEvent beyond[] = {{13, FrameEventKind::kPush, 3, 0}};
  CodeLoad bad = function("bad", 0x1000);
  bad.lines = descending;
  EXPECT_EQ(load(bad), Status::kLinesLeftOut);
  EXPECT_TRUE(written.lines_left_out);
  EXPECT_EQ(ObjectReader(debugger.only()).cfa_above_rsp(0x1005), 48u);
  bad.lines = kLines;
  bad.unwinding = Unwinding::from_events(beyond);
  EXPECT_EQ(load(bad), Status::kUnwindingLeftOut);
  EXPECT_TRUE(written.unwinding_left_out);
  EXPECT_EQ(ObjectReader(debugger.only()).source_of(0x1004)->line, 8);
  EXPECT_EQ(debugger.symbols(), (std::set<Symbol>{{"bad", 0x1000, 12}}));
}

TEST_F(GdbSink, NamesAreCleanedAndTheNamelessAreNamed) {
  EXPECT_EQ(load(function("a\nb", 0x1000)), Status::kOk);
  EXPECT_TRUE(written.name_changed);
  EXPECT_EQ(load(function("", 0x2000)), Status::kOk);
  EXPECT_EQ(debugger.symbols(), (std::set<Symbol>{{"a?b", 0x1000, 12}, {"jit_2000", 0x2000, 12}}));
}

TEST_F(GdbSink, RefusesNoCodeAndWorksOnlyWhileItIsOpen) {
  EXPECT_EQ(load(function("empty", 0x1000, 0)), Status::kEmptyCode);
  EXPECT_EQ(load(function("one", 0x1000)), Status::kOk);
  EXPECT_EQ(sink->end(5), Status::kOk);
  EXPECT_TRUE(debugger.objects.empty());
  EXPECT_EQ(load(function("two", 0x2000)), Status::kWriteFailed);
  EXPECT_EQ(sink->begin({}, folder), Status::kNoOutput) << "there is no registry";
  ASSERT_EQ(sink->begin({}, {folder, &debugger}), Status::kOk);
  EXPECT_EQ(load(function("three", 0x1000)), Status::kOk);
  EXPECT_EQ(debugger.symbols(), (std::set<Symbol>{{"three", 0x1000, 12}}));
}

TEST_F(GdbSink, ManyFunctionsShareFewObjectsAndKeepTheirLines) {
  constexpr std::uint64_t kCount = 5'000;
  const std::string files[] = {"/src/a.nib", "/src/b.nib", "/src/c.nib"};
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Line lines[] = {{0, static_cast<std::uint32_t>(i + 1), 0, files[i % 3].c_str()},
                          {6, 5, 0, files[(i + 1) % 3].c_str()}};
    const std::string name = "f" + std::to_string(i);
    CodeLoad one = function(name, 0x10000 + 16 * i);
    one.lines = lines;
    ASSERT_EQ(load(one), Status::kOk);
  }
  EXPECT_LE(debugger.objects.size(), 3 * 9 + kCount / 1000);
  EXPECT_LE(debugger.events, kCount * 11 / 4);
  EXPECT_EQ(debugger.symbols().size(), kCount);
  std::uint64_t checked = 0;
  for (const auto& [entry, image] : debugger.objects) {
    const ObjectReader reader(image);
    EXPECT_EQ(reader.code_sections(), 1u);
    for (const Symbol& symbol : reader.symbols()) {
      const std::uint64_t i = (symbol.address - 0x10000) / 16;
      if (i % 97 != 0) continue;
      ++checked;
      EXPECT_EQ(symbol.name, "f" + std::to_string(i));
      EXPECT_EQ(reader.source_of(symbol.address + 5),
                (SourcePlace{files[i % 3], static_cast<int>(i + 1), 0}));
      EXPECT_EQ(reader.source_of(symbol.address + 6), (SourcePlace{files[(i + 1) % 3], 5, 0}));
      EXPECT_EQ(reader.source_of(symbol.address + 12), std::nullopt);
      EXPECT_EQ(reader.cfa_above_rsp(symbol.address + 8), 48u);
    }
  }
  EXPECT_EQ(checked, kCount / 97 + 1);
}

TEST_F(GdbSink, FarFunctionsOfAnObjectHaveSectionsOfTheirOwn) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(load(function("f" + std::to_string(i), 0x10000 + (i / 4) * 0x2000 + (i % 4) * 16)),
              Status::kOk);
  EXPECT_EQ(ObjectReader(debugger.only()).code_sections(), 3u);
}

TEST_F(GdbSink, NothingIsLeftOfAFunctionThatIsGone) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(load(function("f" + std::to_string(i), 0x10000 + i * 16)), Status::kOk);
  ASSERT_EQ(sink->unload({.id = 0, .when_ns = 0, .address = 0x10030, .size = 12}), Status::kOk);
  const ObjectReader reader(debugger.only());
  EXPECT_EQ(reader.symbols().size(), 9u);
  EXPECT_EQ(reader.symbols(), reader.scopes());
  for (std::uint64_t i = 0; i < 10; ++i) {
    EXPECT_EQ(reader.source_of(0x10000 + i * 16).has_value(), i != 3) << i;
    EXPECT_EQ(reader.cfa_above_rsp(0x10000 + i * 16).has_value(), i != 3) << i;
  }
}

// The announced functions by address, as a debugger must see them.
class Model {
 public:
  void add(const std::string& name, std::uint64_t address, std::uint64_t size) {
    std::erase_if(live_, [&](const auto& each) {
      return each.first < address + size && each.first + each.second.size > address;
    });
    live_[address] = {name, address, size};
  }
  void remove(std::uint64_t address) { live_.erase(address); }
  bool has(std::uint64_t address) const { return live_.count(address) != 0; }
  Symbol at(std::uint64_t address) const { return live_.at(address); }
  std::set<Symbol> symbols() const {
    std::set<Symbol> all;
    for (const auto& [address, symbol] : live_) all.insert(symbol);
    return all;
  }

 private:
  std::map<std::uint64_t, Symbol> live_;
};

TEST_F(GdbSink, SaysWhatLivesAfterAnySequenceOfLoadsMovesAndUnloads) {
  std::mt19937 random(5);
  Model model;
  const auto some_place = [&] { return 0x10000 + random() % 600 * 8; };
  for (int i = 0; i < 12'000; ++i) {
    const std::uint64_t from = some_place();
    const std::uint64_t to = some_place();
    const bool lives = model.has(from);
    const std::string new_name = "f" + std::to_string(i);
    const std::string name = lives ? model.at(from).name : new_name;
    const std::uint64_t size = lives ? model.at(from).size : 12 + random() % 30;
    CodeLoad announced = function(name, to, size);
    const auto kind = random() % 8;
    if (lives && kind == 0) {
      announced.moved_from = from;
      ASSERT_EQ(load(announced), Status::kOk);
    } else if (lives && kind == 1) {
      ASSERT_EQ(sink->move(moved(from, to, size), written), Status::kOk);
    } else if (kind < 4) {
      ASSERT_EQ(sink->unload({.address = from}), Status::kOk);
    } else {
      announced.name = new_name;
      ASSERT_EQ(load(announced), Status::kOk);
    }
    if (kind < 4) model.remove(from);
    if (kind >= 4 || (lives && kind < 2)) model.add(std::string(announced.name), to, announced.bytes.size());
    if (i % 200 == 0) {
      ASSERT_EQ(debugger.symbols(), model.symbols()) << i;
    }
    ASSERT_LE(debugger.objects.size(), 30u);
  }
}

TEST_F(GdbSink, AMoveTakesLinesAndFrameAlong) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_EQ(load(function("f" + std::to_string(i), 0x10000 + i * 16)), Status::kOk);
  ASSERT_EQ(sink->move(moved(0x10030, 0x20000, 12), written), Status::kOk);
  for (const auto& [entry, image] : debugger.objects) {
    const ObjectReader reader(image);
    EXPECT_EQ(reader.source_of(0x10030), std::nullopt);
    EXPECT_EQ(reader.cfa_above_rsp(0x10030), std::nullopt);
    if (!reader.symbols().contains({"f3", 0x20000, 12})) continue;
    EXPECT_EQ(reader.source_of(0x20004), (SourcePlace{"/src/one.nib", 8, 0}));
    EXPECT_EQ(reader.cfa_above_rsp(0x20005), 48u);
    return;
  }
  FAIL() << "it is nowhere";
}

// Wherever memory runs out, a function is published or refused, and the others are as they were.
TEST_F(GdbSink, WithoutMemoryNothingIsHalfDone) {
  Model model;
  std::uint64_t refused = 0;
  std::uint64_t number = 0;
  for (std::uint64_t round = 0; round < 60; ++round) {
    for (std::uint64_t spared = 0; spared < 12; ++spared) {
      const std::string name = "f" + std::to_string(++number);
      const std::string file = "/src/" + name;
      const std::uint64_t address = 0x10000 + number % 200 * 16;
      CodeLoad one = function(name, address);
      one.file = file.c_str();
      Status status = Status::kOk;
      {
        const NoMemoryHere here(spared);
        status = load(one);
      }
      model.add(name, address, 12);
      if (status == Status::kNoMemory) model.remove(address);
      refused += status == Status::kNoMemory ? 1 : 0;
      if (status != Status::kNoMemory) {
        ASSERT_EQ(status, Status::kOk);
      }
    }
    const NoMemoryHere here(round % 3);
    const std::uint64_t gone = 0x10000 + round * 7 % 200 * 16;
    ASSERT_EQ(sink->unload({.address = gone}), Status::kOk);
    model.remove(gone);
    ASSERT_EQ(debugger.symbols(), model.symbols());
  }
  EXPECT_GT(refused, 60u);
  EXPECT_LT(refused, 600u);
}

}  // namespace
}  // namespace jitquill
