// Which boot and which namespace process numbers are of: without, a number says nothing.
//
// Context   [life]: reads /proc, raw system calls only.
#pragma once

#include <cstdint>

namespace jitquill::this_machine {

// /proc/sys/kernel/random/boot_id without its newline, NUL-terminated; empty where /proc does not tell.
void read_boot_id(char (&text)[40]) noexcept;

// The inode of /proc/self/ns/pid; 0 where /proc does not tell.
std::uint64_t pid_namespace() noexcept;

}  // namespace jitquill::this_machine
