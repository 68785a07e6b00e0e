// A machine that runs random prologues, bodies and epilogues with real values on a real stack, and tells each
// instruction as frame events, the way a JIT would. It knows nothing of CFA arithmetic beyond the address
// that the stack pointer had: so what unwinders find can be compared with what its caller really had.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "tests/unit/writer/cfi_reader.hpp"
#include "writer/model/frame_event.hpp"

namespace jitquill::tests {

// The registers that x86-64 callees save, by DWARF number.
inline constexpr std::array<std::uint8_t, 6> kCalleeSaved = {3, 6, 12, 13, 14, 15};

class FrameMachine {
 public:
  // What holds for every address of [offset, end).
  struct Moment {
    std::uint32_t offset;
    std::uint32_t end;
    std::array<std::uint64_t, kFirstColumns> registers;
    std::map<std::uint64_t, std::uint64_t> memory;
    std::uint64_t load(std::uint64_t address) const;
  };

  explicit FrameMachine(std::uint32_t seed);
  // One function from its entry to its last return.
  void run();

  std::uint32_t code_size() const { return offset_; }
  const std::vector<FrameEvent>& events() const { return events_; }
  const std::vector<Moment>& moments() const { return moments_; }
  std::uint64_t caller_sp() const { return caller_sp_; }
  const std::array<std::uint64_t, kFirstColumns>& caller() const { return caller_; }

 private:
  // What lies on the stack, the newest last.
  struct Item {
    std::uint8_t saved;  // register whose pushed value this is, or kNone
    std::uint32_t size;
    bool is_told;
  };
  struct State {
    std::array<std::uint64_t, kFirstColumns> registers{};
    std::map<std::uint64_t, std::uint64_t> memory;
    std::map<std::uint8_t, std::uint64_t> slots;  // where mov saved a register
    std::vector<Item> items;
    bool has_frame = false;
    std::uint64_t frame_word =
        0;  // where the stack pointer lies that held before it was aligned; 0 = it was not
  };
  static constexpr std::uint8_t kNone = 0xFF;

  std::uint32_t pick(std::uint32_t below) { return static_cast<std::uint32_t>(random_() % below); }
  std::uint64_t& sp() { return now_.registers[7]; }
  bool is_saved(std::uint8_t reg) const;
  bool depth_is_known() const;
  void instruction();  // passes its bytes; what was before holds for them
  void tell(FrameEventKind kind, std::uint8_t reg = 0, std::uint32_t value = 0);

  void body_step();
  void push();
  void allocate();
  void save_by_mov();
  void set_frame();
  void align_stack();
  void end_alignment();
  void drop_top();
  void scramble();
  void epilogue();
  void restore_slots();
  void lea_to_first_pushed();
  void leave_frame();
  void early_return();

  std::mt19937 random_;
  State now_;
  std::uint64_t caller_sp_ = 0;
  std::array<std::uint64_t, kFirstColumns> caller_{};
  std::uint32_t offset_ = 0;
  std::vector<FrameEvent> events_;
  std::vector<Moment> moments_;
};

}  // namespace jitquill::tests
