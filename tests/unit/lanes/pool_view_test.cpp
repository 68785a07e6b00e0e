// Reading files that somebody else wrote, or nobody in his right mind.
#include "agent/lanes/pool_view.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "agent/lanes/calibration.hpp"

namespace lanes_test {
namespace {

using namespace jitquill::lanes;

// The memory of a pool with one chunk of each size, and not a byte more: what reads behind it faults, or the
// address sanitizer says so.
class Image {
 public:
  static constexpr std::size_t kSize = kChunksAt + kChunkSizes[0] + kChunkSizes[1] + kChunkSizes[2];

  Image() : memory_(static_cast<std::uint8_t*>(::operator new (kSize, std::align_val_t{64}))) {
    std::memset(memory_.get(), 0, kSize);
    header().magic = kPoolMagic;
    header().version = kPoolVersion;
    header().used_bytes = kSize;
    std::uint64_t at = kChunksAt;
    for (const std::size_t size : kChunkSizes) {
      chunk(at).size = static_cast<std::uint32_t>(size);
      at += size;
    }
  }
  PoolHeader& header() { return *reinterpret_cast<PoolHeader*>(memory_.get()); }
  ChunkHeader& chunk(std::uint64_t offset) { return *reinterpret_cast<ChunkHeader*>(memory_.get() + offset); }
  std::span<std::uint8_t> bytes() { return {memory_.get(), kSize}; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const { ::operator delete (memory, std::align_val_t{64}); }
  };
  std::unique_ptr<std::uint8_t, Free> memory_;
};

std::size_t chunks_in(std::span<std::uint8_t> bytes) {
  const auto view = PoolView::over(bytes);
  if (!view) return 0;
  std::size_t count = 0;
  std::uint64_t sum = 0;
  for (std::uint32_t row = 0; row < view->lane_count(); ++row) sum += view->lane(row).tid;
  view->for_each_chunk([&](const PoolView::Chunk& chunk) {
    ++count;
    for (std::size_t i = 0; i < chunk.records(); ++i) sum += view->record(chunk, i).when.load();
  });
  asm volatile("" : : "r"(sum));
  return count;
}

TEST(PoolView, FindsTheChunks) {
  Image image;
  EXPECT_EQ(chunks_in(image.bytes()), 3u);
  image.header().used_bytes = kChunksAt + kChunkSizes[0] + 1;
  EXPECT_EQ(chunks_in(image.bytes()), 1u);
}

TEST(PoolView, RefusesWhatIsNoPool) {
  Image image;
  EXPECT_FALSE(PoolView::over(image.bytes().first(kChunksAt - 1)));
  EXPECT_FALSE(PoolView::over({}));
  image.header().version = kPoolVersion + 1;
  EXPECT_FALSE(PoolView::over(image.bytes()));
  image.header().version = kPoolVersion;
  std::memset(image.header().output_folder, 'x', sizeof image.header().output_folder);
  EXPECT_FALSE(PoolView::over(image.bytes()));
}

TEST(PoolView, StopsAtAChunkThatCannotBe) {
  for (const std::uint32_t size : {0u, 1u, 8191u, 512u * 1024, ~0u}) {
    Image image;
    image.chunk(kChunksAt + kChunkSizes[0]).size = size;
    EXPECT_EQ(chunks_in(image.bytes()), 1u) << size;
  }
  Image image;
  image.chunk(kChunksAt + kChunkSizes[0]).size = kChunkSizes[2];  // longer by one chunk than the file
  image.chunk(kChunksAt + kChunkSizes[0] + kChunkSizes[1]).size = kChunkSizes[2];
  EXPECT_LE(chunks_in(image.bytes()), 3u);
}

TEST(PoolView, ReadsNothingOutsideWhateverIsInIt) {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    Image image;
    for (int change = 0; change < 6; ++change) {
      const std::size_t in_header = random() % sizeof(PoolHeader);
      const std::size_t in_chunk = kChunksAt + kChunkSizes[0] * (random() % 3) + random() % 64;
      image.bytes()[random() % 2 == 0 ? in_header : in_chunk] = static_cast<std::uint8_t>(random());
    }
    image.header().magic = kPoolMagic;
    image.header().version = kPoolVersion;
    (void)chunks_in(image.bytes());
  }
}

TEST(Calibration, KeepsTheFirstPairAndTheNewest) {
  Image image;
  PoolHeader& header = image.header();
  add_calibration(header, read_clocks());
  const std::uint64_t first_ns = header.calibrations[0].ns;
  for (int i = 0; i < 200; ++i) add_calibration(header, read_clocks());
  EXPECT_EQ(header.calibration_count, 201u);
  EXPECT_EQ(header.calibrations[0].ns, first_ns);
  const Calibration& newest = header.calibrations[1 + 199 % 63];
  for (const Calibration& pair : header.calibrations) {
    EXPECT_NE(pair.ticks, 0u);
    EXPECT_LE(pair.ns, newest.ns);
    EXPECT_LE(pair.ticks, newest.ticks);
  }
}

}  // namespace
}  // namespace lanes_test
