#include "agent/lanes/pool.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "agent/base/start_time.hpp"
#include "agent/base/this_machine.hpp"
#include "agent/base/thread_id.hpp"
#include "agent/lanes/calibration.hpp"
#include "agent/lanes/chunks.hpp"
#include "agent/lanes/lane.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::lanes {
namespace {

constexpr std::uint64_t kLeastSize = kChunksAt + kChunkSizes[0];
constexpr int kNewFile = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
constexpr unsigned kKeysWithoutAllocation = 32;  // glibc: the first block of a thread's values is in itself

PoolPage* page() noexcept {
  return g_pool_page.load(std::memory_order_acquire);
}

// What the file may grow to: where that is less than asked for, it would be SIGXFSZ.
std::uint64_t bounded_size(std::uint64_t asked) noexcept {
  rlimit limit{};
  (void)raw::call(SYS_prlimit64, 0, RLIMIT_FSIZE, nullptr, &limit);
  return std::min<std::uint64_t>(asked, limit.rlim_cur) & ~std::uint64_t{kBlockSize - 1};
}

// Memory of the file is made page by page where that shows a lack of it: in a tmpfs, by a kernel since 5.14.
bool can_back_by_address(int file) noexcept {
  struct statfs system {};
  if (raw::call(SYS_fstatfs, file, &system) != 0 || system.f_type != TMPFS_MAGIC) return false;
  // Of no memory at all: a kernel that does not know the advice says -EINVAL.
  constexpr int kPopulateWrite = 23;
  return raw::call(SYS_madvise, nullptr, std::size_t{0}, kPopulateWrite) == 0;
}

// Sets the file's size; elsewhere than in a tmpfs all of it gets its blocks now.
long set_size(int file, std::uint64_t& size, bool& is_backed) noexcept {
  is_backed = !can_back_by_address(file);
  if (!is_backed) return raw::truncate(file, size);
  for (;; size = size / 2 & ~std::uint64_t{kBlockSize - 1}) {
    const long made = raw::call(SYS_fallocate, file, 0, 0L, static_cast<long>(size));
    if (made != -ENOSPC || size / 2 < kLeastSize) return made;
  }
}

// At an address that blocks can be told by.
long map_aligned(int file, std::uint64_t size) noexcept {
  const long reserved =
      raw::map(size + kBlockSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (raw::is_error(reserved)) return reserved;
  const long aligned = (reserved + static_cast<long>(kBlockSize) - 1) & ~(static_cast<long>(kBlockSize) - 1);
  const long mapped = raw::call(SYS_mmap, aligned, size, static_cast<long>(PROT_READ | PROT_WRITE),
                                static_cast<long>(MAP_SHARED | MAP_FIXED), static_cast<long>(file), 0L);
  if (raw::is_error(mapped)) raw::unmap(reinterpret_cast<void*>(reserved), size + kBlockSize);
  return mapped;
}

long map_page() noexcept {
  const long mapped =
      raw::map(kPoolPageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (raw::is_error(mapped)) return mapped;
  if (raw::call(SYS_madvise, mapped, kPoolPageSize, MADV_WIPEONFORK) == 0) return mapped;
  raw::unmap(reinterpret_cast<void*>(mapped), kPoolPageSize);
  return -EOPNOTSUPP;
}

void name_output_folder(PoolHeader& header, const char* path) noexcept {
  std::strncpy(header.output_folder, path, sizeof header.output_folder - 1);
}

void fill_header(PoolPage& pool, const char* output_folder) noexcept {
  PoolHeader& header = pool.header();
  header.version = kPoolVersion;
  header.pid = current_pid();
  header.start_time_ticks = process_start_ticks(header.pid);
  header.pid_namespace = this_machine::pid_namespace();
  this_machine::read_boot_id(header.boot_id);
  name_output_folder(header, output_folder);
  header.used_bytes.store(kChunksAt, std::memory_order_relaxed);
  add_calibration(header, read_clocks());
  header.last_look_ticks.store(cpu::ticks(), std::memory_order_relaxed);
  // Last: before, it is nobody's.
  std::atomic_ref(header.magic).store(kPoolMagic, std::memory_order_release);
}

void on_thread_end(void*) {
  put_thread_end();
}

// Without one, ends are known when the drain finds a thread gone.
void make_end_key(PoolPage& pool) noexcept {
  static constinit pthread_key_t key{};
  static constinit bool is_made = false;  // by a parent: a child has it too
  if (!is_made) {
    if (!cpu::can_keep_vectors() || pthread_key_create(&key, on_thread_end) != 0) return;
    if (key >= kKeysWithoutAllocation) {
      (void)pthread_key_delete(key);
      return;
    }
    is_made = true;
  }
  pool.end_key = key;
  pool.end_value = &key;  // anything but null
  pool.set_end_key = pthread_setspecific;
}

// Of this process, or of a parent's whose child we are.
constinit std::span<std::uint8_t> g_mapped;

// In a child: what the parent wrote is its own. The place stays, since a handler that forked inside a hook
// goes on there.
void let_go_of_parents() noexcept {
  if (g_mapped.empty()) return;
  (void)raw::call(SYS_mmap, g_mapped.data(), g_mapped.size(), static_cast<long>(PROT_READ | PROT_WRITE),
                  static_cast<long>(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED), -1L, 0L);
  g_mapped = {};
}

// Fills a page for the mapped file; the page is ours alone so far.
int prepare(PoolPage& pool, const Pool::Settings& settings) noexcept {
  if (!chunks::back(pool, 0, kLaneTableAt)) return -ENOSPC;
  pool.policy = settings.policy;
  fill_header(pool, settings.output_folder);
  const std::uint64_t first = chunks::grow(pool, 0);
  if (first == 0) return -ENOSPC;
  chunks::link_free(pool, first);
  make_end_key(pool);
  pool.state.store(PoolState::kOff, std::memory_order_release);
  return 0;
}

int start_in(int file, const Pool::Settings& settings) noexcept {
  std::uint64_t size = bounded_size(settings.memory_bytes);
  bool is_backed = false;
  if (size < kLeastSize) return -ENOSPC;
  if (const long sized = set_size(file, size, is_backed); sized != 0) return static_cast<int>(sized);
  const long page_at = map_page();
  if (raw::is_error(page_at)) return static_cast<int>(page_at);
  auto* const pool = reinterpret_cast<PoolPage*>(page_at);
  const long base = map_aligned(file, size);
  int done = static_cast<int>(base);
  if (!raw::is_error(base)) {
    pool->base = reinterpret_cast<std::uint8_t*>(base);
    pool->size = size;
    pool->is_backed = is_backed;
    done = prepare(*pool, settings);
    if (done != 0) raw::unmap(pool->base, size);
  }
  if (done != 0) {
    raw::unmap(pool, kPoolPageSize);
    return done;
  }
  g_pool_page.store(pool, std::memory_order_release);
  g_mapped = {pool->base, size};
  return 0;
}

}  // namespace

int Pool::start(const Settings& settings) noexcept {
  if (is_started()) return -EALREADY;
  let_go_of_parents();
  const int folder =
      raw::open_at(AT_FDCWD, settings.folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
  if (folder < 0) return folder;
  const int file = raw::open_at(folder, kFileName, kNewFile, 0600);
  const int done = file < 0 ? file : start_in(file, settings);
  if (file >= 0) raw::close(file);
  if (file >= 0 && done != 0) (void)raw::call(SYS_unlinkat, folder, kFileName, 0);
  raw::close(folder);
  return done;
}

void Pool::set_output_folder(const char* output_folder) noexcept {
  if (is_started()) name_output_folder(page()->header(), output_folder);
}

void Pool::switch_on() noexcept {
  if (is_started()) page()->state.store(PoolState::kOn, std::memory_order_release);
}

void Pool::switch_off() noexcept {
  // In one order with is_busy of the threads: await_busy().
  if (page() != nullptr) page()->state.store(PoolState::kOff, std::memory_order_seq_cst);
}

bool Pool::is_started() noexcept {
  return page() != nullptr && page()->base != nullptr;
}

std::span<std::uint8_t> Pool::memory() noexcept {
  if (!is_started()) return {};
  return {page()->base, page()->size};
}

std::uint64_t Pool::lost_without_lane() noexcept {
  return page() == nullptr ? 0 : page()->lost_without_lane.load(std::memory_order_relaxed);
}

}  // namespace jitquill::lanes
