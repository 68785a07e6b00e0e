#include "agent/drain/recover.hpp"

#include <fcntl.h>

#include <cerrno>
#include <new>

#include "agent/base/clock.hpp"
#include "agent/base/text_line.hpp"
#include "agent/drain/dead_pool.hpp"
#include "agent/drain/drain.hpp"
#include "agent/lanes/dead_pools.hpp"
#include "writer/bytes/raw_calls.hpp"

namespace jitquill::drain {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) raw::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  explicit operator bool() const noexcept { return number_ >= 0; }
  int number() const noexcept { return number_; }

 private:
  int number_;
};

int open_folder(const char* path) noexcept {
  return raw::open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
}

// Hands out the files that are there.
class FilesBefore final : public Folder {
 public:
  FilesBefore(int folder, const char* path) noexcept : folder_(folder), path_(path) {}
  int create(const char* name) noexcept override {
    return raw::open_at(folder_, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
  }
  int create_next(const char* name) noexcept override {
    return raw::open_at(folder_, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  }
  void remove(const char* name) noexcept override { (void)raw::call(SYS_unlinkat, folder_, name, 0); }
  const char* path() const noexcept override { return path_; }

 private:
  int folder_;
  const char* path_;
};

// What another user left could name any folder of ours, whose files would be cut.
bool is_ours(const Descriptor& folder) noexcept {
  struct stat status {};
  return raw::status_of(folder.number(), status) == 0 &&
         status.st_uid == static_cast<uid_t>(raw::call(SYS_geteuid));
}

Recovery recovery_of(Status status) noexcept {
  if (status == Status::kNotFound) return Recovery::kNoJournal;
  return status == Status::kNoOutput ? Recovery::kNoOutput : Recovery::kFailed;
}

// They lie in no lane, so no output has their place.
void say_lost_without_lane(const lanes::PoolHeader& header, Say say) noexcept {
  const std::uint64_t lost = header.lost_without_lane.load();
  if (lost == 0 || say == nullptr) return;
  Message line;
  say(line.number(lost)
          .text(" records are missing, of threads that got no lane in time: the machine was too busy, or "
                "more threads ran than have one")
          .view());
}

Recovery drain_rest(DeadPool& pool, int lane_folder, FilesBefore& files, Say say) noexcept {
  DrainSettings settings;
  settings.lanes = &pool;
  settings.output = &files;
  settings.lane_folder = lane_folder;
  settings.code_lane =
      raw::open_at(lane_folder, lanes::kCodeFile, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
  settings.say = say;
  auto* const drain = new (std::nothrow) Drain;
  if (drain == nullptr) return Recovery::kFailed;
  // In flight nobody read the clock since the start.
  if (lanes::is_of_this_boot(pool.header())) settings.later = lanes::read_clocks();
  const Status resumed = drain->resume(settings);
  const bool was_finished = drain->is_finished();
  Status status = resumed;
  if (resumed == Status::kOk)
    status = drain->finish(FrameEnd::kProcessEnd, {pool.latest_ticks(), monotonic_ns()});
  delete drain;
  if (status != Status::kOk) return recovery_of(status);
  say_lost_without_lane(pool.header(), say);
  pool.header().is_ended.store(1);
  return was_finished ? Recovery::kNothingToDo : Recovery::kDone;
}

}  // namespace

const char* text(Recovery recovery) noexcept {
  switch (recovery) {
#define RECOVERY(name, number, words) \
  case Recovery::name:                \
    return words;
#include "agent/drain/recovery.def"
#undef RECOVERY
  }
  return "?";
}

Recovery recover(const char* lane_folder, const RecoverSettings& settings) noexcept {
  const Descriptor folder(open_folder(lane_folder));
  if (!folder) return Recovery::kNoLanes;
  if (!is_ours(folder)) return Recovery::kNotOurs;
  const Descriptor lock(lanes::lock_lane_folder(folder.number()));
  if (!lock) return lock.number() == -EWOULDBLOCK ? Recovery::kBusy : Recovery::kFailed;
  DeadPool pool;
  if (!pool.open(folder.number())) return Recovery::kNoLanes;
  const lanes::Life life = lanes::life_of(pool.header());
  if (life == lanes::Life::kAlive) return Recovery::kAlive;
  if (life == lanes::Life::kUnknown && !settings.other_namespace) return Recovery::kOtherNamespace;
  if (pool.header().is_ended.load() != 0) return Recovery::kNothingToDo;
  const char* const named = settings.output_folder;
  const char* const path = named != nullptr ? named : pool.header().output_folder;
  const Descriptor output(open_folder(path));
  if (!output) return Recovery::kNoOutput;
  if (!is_ours(output)) return Recovery::kNotOurs;
  FilesBefore files(output.number(), path);
  return drain_rest(pool, folder.number(), files, settings.say);
}

}  // namespace jitquill::drain
