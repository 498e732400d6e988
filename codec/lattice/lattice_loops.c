/* SPDX-License-Identifier: BSD-3-Clause
 * lattice_loops.c: the loops of lattice for any processor. */
#define LATTICE_KERNELS h5twin_lattice_kernels_scalar
#include "lattice_loops_all.h"

H5TWIN_KERNELS_FOR(h5twin_lattice_kernels, H5TWIN_OWN_VARIANTS(h5twin_lattice_kernels))
