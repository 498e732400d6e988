/* SPDX-License-Identifier: BSD-3-Clause
 * fill_value.h: keep HDF5's padding out of a range-relative error bound. */
#ifndef H5TWIN_FILL_VALUE_H
#define H5TWIN_FILL_VALUE_H

#include "h5twin.h"

/* Params of mode H5TWIN_NOA for a chunk of floats that HDF5 may have padded with the float whose
 * bits are fill_bits. If that value is in the chunk and alone widens its range, replace the mode by
 * H5TWIN_ABS with the bound that the range without it gives, or by H5TWIN_LOSSLESS if there is no
 * range. */
void h5twin_fill_exclude(struct h5twin_params *params, uint64_t fill_bits, const void *src,
                         size_t src_size);

#endif
