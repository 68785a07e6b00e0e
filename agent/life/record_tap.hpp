// Who follows this process's OpenJ9 trace from inside: the header's bytes, and each record as it is finished.
//
// Context   subscribe(), metadata(): [notify], no lock of ours held but maybe the drain's, which they take.
//           taker(): what the drain calls. forget(): [life], in a child.
// Promises  behind subscribe(null) no call is under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "writer/model/status.hpp"
#include "writer/sink/run_sink.hpp"

namespace jitquill::record_tap {

// Of a record; bytes null: so many are lost.
using Take = void (*)(std::uint64_t thread, const std::uint8_t* bytes, std::size_t size, void* function,
                      void* context);

// Of options and arguments a header has 64 KiB each at most.
inline constexpr std::size_t kMostHeader = std::size_t{160} << 10;

// kBusy: there is one, or the caller is called by it. `function` null: nobody.
Status subscribe(Take take, void* function, void* context);
// `room` is written to under that lock: it must not fault. kOff: there is no trace. kTooLarge: `size` says
// how much it is.
Status metadata(std::span<std::uint8_t> room, std::size_t& size);

RecordTaker& taker() noexcept;
void end() noexcept;     // of the trace
void forget() noexcept;  // what the parent had

}  // namespace jitquill::record_tap
