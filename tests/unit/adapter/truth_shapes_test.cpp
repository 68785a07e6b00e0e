// Frames of every shape that asmjit's prologs and epilogs have, with each kind of emitter, checked against
// the running processor.
#include <algorithm>
#include <ostream>

#include "tests/unit/adapter/shape_check.hpp"

namespace shapes {

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.name;
}

namespace {

class FrameShapes : public testing::TestWithParam<Shape> {
 protected:
  // The word in memory is used where the stack is aligned and rbp is not kept, and only there.
  template <class E>
  void expect_truth() {
    const Shape& shape = GetParam();
    const capture::Code code = check<E>(rt_, shape);
    const bool is_in_memory = std::ranges::any_of(code.frame, [](const jitquill_frame_event& event) {
      return event.kind == JITQUILL_FRAME_FRAME_IN_MEMORY;
    });
    EXPECT_EQ(is_in_memory, shape.align > 16 && !shape.frame_pointer);
  }
  jitquill::JitRuntime rt_;
};

// asmjit's numbers of registers through which stack arguments are read.
constexpr int kRbx = 3, kR10 = 10, kR11 = 11;

const Shape kShapes[] = {
    {.name = "leaf"},
    {.locals = 32, .name = "leaf_with_locals"},
    {.pushes = 2, .name = "two_pushes"},
    {.pushes = 6, .locals = 40, .name = "six_pushes"},
    {.frame_pointer = true, .name = "frame_pointer"},
    {.pushes = 4, .frame_pointer = true, .locals = 64, .name = "frame_pointer_and_pushes"},
    {.locals = 64, .align = 32, .name = "aligned_32"},
    {.pushes = 3, .locals = 64, .epilogs = 3, .align = 32, .name = "aligned_32_with_pushes"},
    {.pushes = 6, .locals = 64, .align = 32, .name = "aligned_32_rbp_overwritten"},
    {.pushes = 5, .locals = 5000, .epilogs = 2, .align = 64, .name = "aligned_64_large"},
    {.frame_pointer = true, .locals = 64, .epilogs = 2, .align = 32, .name = "aligned_32_frame_pointer"},
    {.pushes = 4, .frame_pointer = true, .locals = 200, .align = 64, .name = "aligned_64_frame_pointer"},
    {.pushes = 1, .stack_register = kR10, .name = "stack_arguments_r10"},
    {.pushes = 3, .locals = 40, .stack_register = kR11, .name = "stack_arguments_r11"},
    {.pushes = 1, .locals = 40, .stack_register = kRbx, .name = "stack_arguments_rbx"},
    {.pushes = 2, .locals = 64, .align = 32, .stack_register = kR10, .name = "stack_arguments_r10_aligned"},
    {.locals = 64, .epilogs = 2, .align = 64, .stack_register = kR11, .name = "stack_arguments_r11_aligned"},
    {.pushes = 4, .locals = 64, .align = 32, .stack_register = kRbx, .name = "stack_arguments_rbx_aligned"},
    {.pushes = 2,
     .frame_pointer = true,
     .locals = 64,
     .align = 32,
     .stack_register = kR10,
     .name = "stack_arguments_frame_pointer_aligned"},
    {.pushes = 3, .windows = true, .vectors = 3, .name = "windows_3_vectors"},
    {.pushes = 8,
     .locals = 40,
     .epilogs = 2,
     .windows = true,
     .vectors = 10,
     .avx = true,
     .name = "windows_10_vectors_avx"},
    {.pushes = 8,
     .frame_pointer = true,
     .locals = 40,
     .windows = true,
     .vectors = 4,
     .name = "windows_frame_pointer"},
    {.pushes = 8,
     .locals = 64,
     .epilogs = 2,
     .align = 64,
     .windows = true,
     .vectors = 5,
     .name = "windows_aligned"},
    {.pushes = 2,
     .frame_pointer = true,
     .locals = 64,
     .align = 32,
     .windows = true,
     .vectors = 2,
     .avx = true,
     .name = "windows_aligned_frame_pointer"},
    {.pushes = 6, .locals = 40, .epilogs = 4, .name = "four_epilogs"},
    {.pushes = 5, .frame_pointer = true, .epilogs = 4, .name = "four_epilogs_frame_pointer"},
    {.pushes = 2, .locals = 40, .epilogs = 4, .align = 32, .name = "four_epilogs_aligned"},
    {.pushes = 1, .locals = 5000, .name = "locals_5000"},
    {.pushes = 2, .locals = 64, .epilogs = 2, .cleanup = true, .name = "emms_vzeroupper"},
    {.pushes = 2, .locals = 64, .align = 32, .cleanup = true, .name = "emms_vzeroupper_aligned"},
    {.pushes = 3, .locals = 100, .epilogs = 2, .is_small = true, .name = "small_encoding"},
    {.pushes = 3, .locals = 100, .align = 32, .is_small = true, .name = "small_encoding_aligned"},
};

}  // namespace

TEST_P(FrameShapes, Assembler) {
  expect_truth<x86::Assembler>();
}
TEST_P(FrameShapes, Builder) {
  expect_truth<x86::Builder>();
}
TEST_P(FrameShapes, Compiler) {
  expect_truth<x86::Compiler>();
}

INSTANTIATE_TEST_SUITE_P(All, FrameShapes, testing::ValuesIn(kShapes),
                         [](const testing::TestParamInfo<Shape>& one) {
                           return std::string(one.param.name);
                         });

}  // namespace shapes
