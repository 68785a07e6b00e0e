#include "writer/gdbobj/sink.hpp"

#include <limits>
#include <new>

#include "writer/gdbobj/address_tree.hpp"
#include "writer/gdbobj/objects.hpp"

namespace jitquill {
namespace {

using gdbobj::Function;

class GdbSink final : public Sink {
 public:
  ~GdbSink() override { abandon(); }
  Status begin(const Origin& origin, const Outlets& outlets) noexcept override;
  Status load(const CodeLoad& load, Written& written) noexcept override;
  Status move(const CodeMove& move, Written& written) noexcept override;
  Status unload(const CodeUnload& unload) noexcept override;
  Status end(std::uint64_t when_ns) noexcept override;
  void abandon() noexcept override;
  bool is_in_memory() const noexcept override { return true; }

 private:
  void take_out(Function& function) noexcept;
  void make_way(std::uint64_t begin, std::uint64_t end) noexcept;
  Status publish(Function& function, Written& written) noexcept;

  gdbobj::Files files_;
  gdbobj::FunctionKeeper keeper_;
  gdbobj::AddressTree live_;
  gdbobj::Objects objects_;
  bool is_open_ = false;
};

Status GdbSink::begin(const Origin&, const Outlets& outlets) noexcept {
  abandon();
  if (outlets.objects == nullptr) return Status::kNoOutput;
  objects_.begin(*outlets.objects);
  is_open_ = true;
  return Status::kOk;
}

void GdbSink::take_out(Function& function) noexcept {
  if (function.object != nullptr) objects_.remove(function, files_);
  live_.remove(function);
}

// Newer code ends the older.
void GdbSink::make_way(std::uint64_t begin, std::uint64_t end) noexcept {
  while (Function* const older = live_.overlapping(begin, end)) {
    take_out(*older);
    Function::forget(older);
  }
}

// Takes the function over.
Status GdbSink::publish(Function& function, Written& written) noexcept {
  const std::uint64_t size = objects_.add(function, files_);
  if (size == 0) {
    Function::forget(&function);
    return Status::kNoMemory;
  }
  live_.insert(function);
  written.bytes += size;
  return Status::kOk;
}

Status GdbSink::load(const CodeLoad& load, Written& written) noexcept {
  if (!is_open_) return Status::kWriteFailed;
  if (load.bytes.empty()) return Status::kEmptyCode;
  if (load.bytes.size() > std::numeric_limits<std::int32_t>::max()) return Status::kTooLarge;
  if (load.moved_from != 0) (void)unload({.address = load.moved_from});
  make_way(load.address, load.address + load.bytes.size());
  Status status = Status::kOk;
  Function* const function = keeper_.keep(load, files_, status, written);
  if (function == nullptr) return Status::kNoMemory;
  const Status published = publish(*function, written);
  return published == Status::kOk ? status : published;
}

Status GdbSink::move(const CodeMove& move, Written& written) noexcept {
  Function* const function = live_.at(move.from);
  if (function == nullptr) return Status::kOk;  // it could not be kept when it was loaded
  take_out(*function);
  make_way(move.to, move.to + move.size);
  function->move_to(move.to);
  return publish(*function, written);
}

Status GdbSink::unload(const CodeUnload& unload) noexcept {
  if (Function* const function = live_.at(unload.address)) {
    take_out(*function);
    Function::forget(function);
  }
  return Status::kOk;
}

// Nobody says from now on which code is gone, and a stale frame misleads more than none.
Status GdbSink::end(std::uint64_t) noexcept {
  abandon();
  return Status::kOk;
}

void GdbSink::abandon() noexcept {
  objects_.withdraw_all();
  while (Function* const function = live_.any()) {
    live_.remove(*function);
    Function::forget(function);
  }
  is_open_ = false;
}

}  // namespace

Sink* make_gdb_sink() noexcept {
  return new (std::nothrow) GdbSink;
}

}  // namespace jitquill
