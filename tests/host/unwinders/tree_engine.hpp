// A model of libgcc 13 and newer, from its source: registered sections are kept by the range of addresses
// that they had when they were registered, and are given back by that range. Whatever libgcc would abort at,
// or would be led astray by, is a complaint.
//
// It is the program's exception engine, being first to define _Unwind_RaiseException, so nothing may throw.
//
// Context   tests; one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jitquill::test {

const std::vector<std::string>& complaints();
std::size_t registered_count();

}  // namespace jitquill::test

// As libgcc's: the FDE for a pc, null if there is none.
extern "C" const void* _Unwind_Find_FDE(const void* pc, void* bases);
