#include "agent/drain/dead_pool.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "agent/lanes/pool.hpp"
#include "agent/lanes/pool_view.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {

DeadPool::~DeadPool() {
  if (!bytes_.empty()) (void)raw::unmap(bytes_.data(), bytes_.size());
}

bool DeadPool::open(int folder) noexcept {
  const int file = raw::open_at(folder, lanes::Pool::kFileName, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  if (file < 0) return false;
  struct stat status {};
  const bool is_large = raw::status_of(file, status) == 0 && S_ISREG(status.st_mode) &&
                        static_cast<std::uint64_t>(status.st_size) >= lanes::kChunksAt;
  const auto size = static_cast<std::size_t>(status.st_size);
  const long mapped = is_large ? raw::map(size, PROT_READ | PROT_WRITE, MAP_SHARED, file) : -1;
  raw::close(file);
  if (raw::is_error(mapped)) return false;
  bytes_ = {reinterpret_cast<std::uint8_t*>(mapped), size};
  return lanes::PoolView::over(bytes_).has_value();
}

std::uint64_t DeadPool::latest_ticks() noexcept {
  std::uint64_t latest = header().last_look_ticks.load();
  const auto view = lanes::PoolView::over(bytes_);
  if (!view) return latest;
  view->for_each_chunk([&](const lanes::PoolView::Chunk& chunk) {
    if (chunk.header->state.load() == lanes::ChunkState::kUsed)
      latest = std::max(latest, chunk.header->start_ticks);
  });
  return latest;
}

}  // namespace jitquill::drain
