// Allocating, relocating and writing code as asmjit's own JitRuntime does, in steps.
//
// Context   any thread, with a CodeHolder of its own; the allocator locks.
#pragma once

#include <jitquill/asmjit/version.hpp>

#include <cstring>

namespace jitquill::asmjit_detail {

struct Memory {
  void* executable = nullptr;
#if ASMJIT_LIBRARY_VERSION >= 0x010B00
  asmjit::JitAllocator::Span span;
#else
  void* writable = nullptr;
#endif
  // Where it can be written, as long as it is allocated.
  char* rw() const noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x010B00
    return static_cast<char*>(span.rw());
#else
    return static_cast<char*>(writable);
#endif
  }
};

inline asmjit::Error allocate(asmjit::JitAllocator& allocator, std::size_t size, Memory& memory) noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x010B00
  const asmjit::Error error = allocator.alloc(JITQUILL_ASMJIT(memory.span, asmjit::Out(memory.span)), size);
  memory.executable = memory.span.rx();
  return error;
#else
  return allocator.alloc(&memory.executable, &memory.writable, size);
#endif
}

inline asmjit::Error shrink(asmjit::JitAllocator& allocator, Memory& memory, std::size_t size) noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x010B00
  return allocator.shrink(memory.span, size);
#else
  return allocator.shrink(memory.executable, size);
#endif
}

inline asmjit::Error relocate(asmjit::CodeHolder& code, const void* address) noexcept {
  return code.JITQUILL_ASMJIT(relocateToBase, relocate_to_base)(reinterpret_cast<std::uintptr_t>(address));
}

// copy(void*) puts `size` bytes there.
template <class Copy>
asmjit::Error write_by(asmjit::JitAllocator& allocator, Memory& memory, std::size_t size,
                       Copy copy) noexcept {
#if ASMJIT_LIBRARY_VERSION >= 0x010B00
  static_cast<void>(size);
  return allocator.write(memory.span, [&](asmjit::JitAllocator::Span& span) noexcept -> asmjit::Error {
    return copy(span.rw());
  });
#else
  static_cast<void>(allocator);
  const asmjit::VirtMem::ProtectJitReadWriteScope scope(memory.executable, size);
  return copy(memory.writable);
#endif
}

inline asmjit::Error write(asmjit::JitAllocator& allocator, asmjit::CodeHolder& code, Memory& memory,
                           std::size_t size) noexcept {
  return write_by(allocator, memory, size, [&](void* to) {
    return code.JITQUILL_ASMJIT(copyFlattenedData, copy_flattened_data)(
        to, size, asmjit::CopySectionFlags::kPadSectionBuffer);
  });
}

inline asmjit::Error write_bytes(asmjit::JitAllocator& allocator, Memory& memory, const void* bytes,
                                 std::size_t size) noexcept {
  return write_by(allocator, memory, size, [&](void* to) -> asmjit::Error {
    std::memcpy(to, bytes, size);
    return kNoError;
  });
}

}  // namespace jitquill::asmjit_detail
