/* SPDX-License-Identifier: BSD-3-Clause
 * cpu.h: the variants of hot primitives that suit this processor, chosen once per process. */
#ifndef H5TWIN_CPU_H
#define H5TWIN_CPU_H

#include "common/crc32c.h"

struct h5twin_bit_packers;       /* common/bit_pack.h */
struct h5twin_residuals_kernels; /* common/residuals_kernels.h */
struct h5twin_e2mc_coders;       /* e2mc/e2mc.h */
struct h5twin_gfc_kernels;       /* gfc/gfc_subchunk.h */
struct h5twin_sleek_maps;        /* sleek/sleek_maps.h */
struct h5twin_lattice_kernels;   /* lattice/lattice_loops.h */
struct h5twin_ndzip_ops;         /* ndzip/ndzip_block.h */
struct h5twin_cascade_kernels;   /* cascade/cascade_kernels.h */
struct h5twin_fpcompress_coders; /* fpcompress/fpcompress.h */

struct h5twin_kernels {
    const char *name; /* "scalar", ... */
    h5twin_crc32c *crc32c;
    h5twin_crc32c_shift *crc32c_shift;
    const struct h5twin_bit_packers *bit_packers;
    const struct h5twin_residuals_kernels *residuals;
    const struct h5twin_sleek_maps *sleek_maps;
    const struct h5twin_gfc_kernels *gfc;
    const struct h5twin_ndzip_ops *ndzip;
    const struct h5twin_fpcompress_coders *fpcompress;
    const struct h5twin_e2mc_coders *e2mc;
    const struct h5twin_cascade_kernels *cascade;
    const struct h5twin_lattice_kernels *lattice;
};

/* What this processor runs best; in a build for tests, the last variant up to the one that the
 * environment variable H5TWIN_CPU names. Ask once per call and pass the answer down. */
const struct h5twin_kernels *h5twin_kernels(void);

/* Every variant that this processor can run, for tests: index 0 is scalar; NULL at the end. */
const struct h5twin_kernels *h5twin_kernels_at(unsigned index);

#endif
