// The executable mapping by which profilers learn of a jitdump file: the kernel logs it with the file's path.
//
// Context   as the sink that owns it. One raw mmap, one raw munmap; nothing reads or runs the mapping.
// Promises  the mapping stays until drop(): a profiler that attaches later finds it in /proc/<pid>/maps.
// Does not  keep the descriptor.
#pragma once

namespace jitquill::jitdump {

class Marker {
 public:
  Marker() noexcept = default;
  ~Marker() { drop(); }
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;

  // Only after the header is in the file: perf gives up a whole recording over one headerless file. The file
  // must be open for reading and writing. False where the file system forbids it (noexec).
  [[nodiscard]] bool put(int descriptor) noexcept;
  void drop() noexcept;
  // Leaves the mapping to the process for good.
  void keep() noexcept { address_ = nullptr; }

 private:
  void* address_ = nullptr;
};

}  // namespace jitquill::jitdump
