/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps_avx2.c: SLEEK's value maps for AVX2 (compiled with -mavx2). */
#define SLEEK_MAPS h5twin_sleek_kernels_avx2
#include "sleek_maps_impl.h"
