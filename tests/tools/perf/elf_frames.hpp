// What libdw, by which newer builds of perf unwind, finds in the ELF files that perf makes of a dump.
#pragma once

#include <string>

// Empty if libdw finds a row of the frame for the first and the last byte of the file's code; else what is
// wrong.
std::string trouble_with_frames(const std::string& elf_file);
