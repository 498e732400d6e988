/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_kernels.c: see cascade_kernels.h. */
#include "cascade_kernels_impl.h"

const struct h5twin_cascade_kernels h5twin_cascade_kernels_scalar = CASCADE_KERNELS_IN_C;

H5TWIN_KERNELS_FOR(h5twin_cascade_kernels, H5TWIN_OWN_VARIANTS(h5twin_cascade_kernels))
