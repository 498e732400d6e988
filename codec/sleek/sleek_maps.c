/* SPDX-License-Identifier: BSD-3-Clause
 * sleek_maps.c: SLEEK's value maps for the processor that the build is for. */
#define SLEEK_MAPS h5twin_sleek_kernels_scalar
#include "sleek_maps_impl.h"

H5TWIN_KERNELS_FOR(h5twin_sleek_kernels, H5TWIN_VARIANTS(h5twin_sleek_kernels))
