/* SPDX-License-Identifier: BSD-3-Clause
 * cpu.c: the only place that asks what the processor can do. */
#include "cpu.h"

#include "common/crc32c.h"
#include "fpcompress/fpcompress.h"

static const struct h5twin_kernels scalar_kernels = {
    .name = "scalar",
    .crc32c = h5twin_crc32c_scalar,
    .fpcompress = &h5twin_fpcompress_coders_scalar,
};

#ifdef H5TWIN_X86
static const struct h5twin_kernels sse42_kernels = {
    .name = "sse4.2",
    .crc32c = h5twin_crc32c_sse42,
    .fpcompress = &h5twin_fpcompress_coders_scalar,
};
#endif

const struct h5twin_kernels *
h5twin_kernels_at(unsigned index)
{
    if (index == 0) {
        return &scalar_kernels;
    }
#ifdef H5TWIN_X86
    if (index == 1 && __builtin_cpu_supports("sse4.2")) {
        return &sse42_kernels;
    }
#endif
    return NULL;
}

const struct h5twin_kernels *
h5twin_kernels(void)
{
    const struct h5twin_kernels *best = &scalar_kernels;
    for (unsigned index = 1; h5twin_kernels_at(index) != NULL; index++) {
        best = h5twin_kernels_at(index);
    }
    return best;
}
