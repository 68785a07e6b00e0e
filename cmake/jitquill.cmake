# What every target of this tree shares: the language level, the warnings, the sanitizers.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

option(JITQUILL_WERROR "Warnings are errors (the presets say so)" OFF)
set(JITQUILL_SANITIZE "" CACHE STRING "Sanitizers for every target, for instance address,undefined")
option(JITQUILL_FUZZ "Build tests/fuzz (needs clang)" OFF)
option(JITQUILL_FUZZ_COVERAGE "Fuzzers that say which lines they reach" OFF)

add_library(jitquill_flags INTERFACE)
target_compile_options(jitquill_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wundef -fno-omit-frame-pointer
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<BOOL:${JITQUILL_WERROR}>:-Werror>)
if(JITQUILL_SANITIZE)
  # Not vptr: it compares RTTI, which guest code has none of. A target that says JITQUILL_UNSANITIZED gets none of it (a
  # -fno-sanitize=all of its own would stand in front of these, and the last one counts).
  target_compile_options(jitquill_flags INTERFACE
    "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:JITQUILL_UNSANITIZED>>>:-fsanitize=${JITQUILL_SANITIZE};-fno-sanitize-recover=all;$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>>")
  target_link_options(jitquill_flags INTERFACE -fsanitize=${JITQUILL_SANITIZE})
endif()

# Code that lives in a host process or may be linked into one: no exceptions, no RTTI, nothing exported
# unless it says so. Unwind tables stay, since a host's cancellation unwinds through us.
add_library(jitquill_guest_flags INTERFACE)
target_link_libraries(jitquill_guest_flags INTERFACE jitquill_flags)
target_compile_options(jitquill_guest_flags INTERFACE
  -fvisibility=hidden -fasynchronous-unwind-tables -ffunction-sections -fdata-sections
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility-inlines-hidden>)
