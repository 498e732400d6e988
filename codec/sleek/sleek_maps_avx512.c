/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps_avx512.c: SLEEK's value maps for AVX-512 (compiled with -mavx512f and its companions).
 */
#define SLEEK_MAPS h5twin_sleek_kernels_avx512
#include "sleek_maps_impl.h"
