// A library of its own, traced as the program is, whose functions throw, catch, and let pass.
#pragma once

namespace throwing_library {

// catcher(thrower) with a frame of the library's between the two.
int through_and_back(int (*catcher)(int (*)()), int (*thrower)());
int call_throws_from_library();
int call_catches_in_library(int (*thrower)());  // -2: caught

// Its counts.
void tell();

}  // namespace throwing_library
