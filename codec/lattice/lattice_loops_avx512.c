/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops_avx512.c: the loops of lattice as compilers vectorize them for AVX-512;
 * rows of interpolation by hand. */
#define LATTICE_AVX512
#define LATTICE_KERNELS h5twin_lattice_kernels_avx512
#include "lattice_loops_all.h"
