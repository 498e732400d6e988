/* SPDX-License-Identifier: BSD-3-Clause
 * cpu.c: the only place that asks what the processor can do. */
#include "cpu.h"

#include "common/crc32c.h"
#include "fpcompress/fpcompress.h"

#include <stdbool.h>

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

static const struct h5twin_kernels avx512_kernels = {
    .name = "avx512",
    .crc32c = h5twin_crc32c_sse42,
    .fpcompress = &h5twin_fpcompress_coders_avx512,
};

static bool
has_avx512(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("avx512f") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
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
    if (index == 2 && has_avx512()) {
        return &avx512_kernels;
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
