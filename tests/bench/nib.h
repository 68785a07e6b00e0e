/* Programs in C that are also programs of nib; each gives a result so that it is not optimised away. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

int64_t sieve_in_c(int64_t limit);
double n_body_in_c(int64_t steps);
double spectral_norm_in_c(int64_t n);
int64_t binary_trees_in_c(int64_t max_depth);

#ifdef __cplusplus
}
#endif
