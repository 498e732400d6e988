/* SPDX-License-Identifier: BSD-3-Clause
 * cpu.c: the only place that asks what the processor can do. */
#include "cpu.h"

#include "cascade/cascade_kernels.h"
#include "common/bit_pack.h"
#include "common/residuals_kernels.h"
#include "e2mc/e2mc.h"
#include "fpcompress/fpcompress.h"
#include "gfc/gfc_subchunk.h"
#include "lattice/lattice_loops.h"
#include "ndzip/ndzip_block.h"
#include "sleek/sleek_maps.h"

#include <stdbool.h>
#ifdef H5TWIN_ARM64
#    include <asm/hwcap.h>
#    include <sys/auxv.h>
#endif
#ifdef H5TWIN_TESTING
#    include <stdlib.h>
#    include <string.h>
#endif

/* From the least demanding to the best. */
static const struct h5twin_kernels variants[] = {
    {
        .name = "scalar",
        .crc32c = h5twin_crc32c_scalar,
        .crc32c_shift = h5twin_crc32c_shift_scalar,
        .bit_packers = &h5twin_bit_packers_scalar,
        .residuals = &h5twin_residuals_kernels_scalar,
        .sleek_maps = &h5twin_sleek_maps_scalar,
        .fpcompress = &h5twin_fpcompress_coders_scalar,
        .gfc = &h5twin_gfc_kernels_scalar,
        .ndzip = &h5twin_ndzip_ops_scalar,
        .e2mc = &h5twin_e2mc_segment_coders_scalar,
        .cascade = &h5twin_cascade_kernels_scalar,
        .lattice = &h5twin_lattice_kernels_scalar,
    },
#ifdef H5TWIN_X86
    {
        .name = "sse4.2",
        .crc32c = h5twin_crc32c_sse42,
        .crc32c_shift = h5twin_crc32c_shift_sse42,
        .bit_packers = &h5twin_bit_packers_scalar,
        .residuals = &h5twin_residuals_kernels_scalar,
        .sleek_maps = &h5twin_sleek_maps_scalar,
        .fpcompress = &h5twin_fpcompress_coders_scalar,
        .gfc = &h5twin_gfc_kernels_scalar,
        .ndzip = &h5twin_ndzip_ops_scalar,
        .e2mc = &h5twin_e2mc_segment_coders_scalar,
        .cascade = &h5twin_cascade_kernels_scalar,
        .lattice = &h5twin_lattice_kernels_scalar,
    },
    {
        .name = "avx2",
        .crc32c = h5twin_crc32c_sse42,
        .crc32c_shift = h5twin_crc32c_shift_sse42,
        .bit_packers = &h5twin_bit_packers_avx2,
        .residuals = &h5twin_residuals_kernels_avx2,
        .sleek_maps = &h5twin_sleek_maps_avx2,
        .fpcompress = &h5twin_fpcompress_coders_avx2,
        .gfc = &h5twin_gfc_kernels_avx2,
        .ndzip = &h5twin_ndzip_ops_avx2,
        .e2mc = &h5twin_e2mc_segment_coders_avx2,
        .cascade = &h5twin_cascade_kernels_avx2,
        .lattice = &h5twin_lattice_kernels_avx2,
    },
    {
        .name = "avx512",
        .crc32c = h5twin_crc32c_avx512,
        .crc32c_shift = h5twin_crc32c_shift_sse42,
        .bit_packers = &h5twin_bit_packers_avx512,
        .residuals = &h5twin_residuals_kernels_avx512,
        .sleek_maps = &h5twin_sleek_maps_avx512,
        .fpcompress = &h5twin_fpcompress_coders_avx512,
        .gfc = &h5twin_gfc_kernels_avx512,
        .ndzip = &h5twin_ndzip_ops_avx512,
        .e2mc = &h5twin_e2mc_segment_coders_avx512,
        .cascade = &h5twin_cascade_kernels_avx512,
        .lattice = &h5twin_lattice_kernels_avx512,
    },
#endif
#ifdef H5TWIN_ARM64
    {
        .name = "armv8-crc",
        .crc32c = h5twin_crc32c_armv8,
        .crc32c_shift = h5twin_crc32c_shift_scalar,
        .bit_packers = &h5twin_bit_packers_scalar,
        .residuals = &h5twin_residuals_kernels_scalar,
        .sleek_maps = &h5twin_sleek_maps_scalar,
        .fpcompress = &h5twin_fpcompress_coders_scalar,
        .gfc = &h5twin_gfc_kernels_scalar,
        .ndzip = &h5twin_ndzip_ops_scalar,
        .e2mc = &h5twin_e2mc_segment_coders_scalar,
        .cascade = &h5twin_cascade_kernels_scalar,
        .lattice = &h5twin_lattice_kernels_scalar,
    },
#endif
};

#define VARIANT_COUNT (sizeof variants / sizeof variants[0])

static bool
is_supported(unsigned index)
{
#ifdef H5TWIN_X86
    const bool sse42 = __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
    const bool avx2 = sse42 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512vbmi") &&
                        __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("gfni") &&
                        __builtin_cpu_supports("vpclmulqdq");
    const bool supported[] = {true, sse42, avx2, avx512};
    return index < sizeof supported / sizeof supported[0] && supported[index];
#elif defined(H5TWIN_ARM64)
    return index == 0 || (index == 1 && (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0);
#else
    return index == 0;
#endif
}

const struct h5twin_kernels *
h5twin_kernels_at(unsigned index)
{
    return index < VARIANT_COUNT && is_supported(index) ? &variants[index] : NULL;
}

const struct h5twin_kernels *
h5twin_kernels(void)
{
    const struct h5twin_kernels *best = &variants[0];
#ifdef H5TWIN_TESTING
    const char *const last = getenv("H5TWIN_CPU");
    if (last != NULL && strcmp(last, best->name) == 0) {
        return best;
    }
#endif
    for (unsigned index = 1; h5twin_kernels_at(index) != NULL; index++) {
        best = h5twin_kernels_at(index);
#ifdef H5TWIN_TESTING
        if (last != NULL && strcmp(last, best->name) == 0) {
            break;
        }
#endif
    }
    return best;
}
