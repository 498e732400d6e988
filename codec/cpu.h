/* SPDX-License-Identifier: BSD-3-Clause
 * cpu.h: the variants of hot primitives that suit this processor, chosen once per process. */
#ifndef H5TWIN_CPU_H
#define H5TWIN_CPU_H

#include <stddef.h>
#include <stdint.h>

struct h5twin_fpcompress_coders; /* fpcompress/fpcompress.h */

struct h5twin_kernels {
    const char *name; /* "scalar", ... */
    uint32_t (*crc32c)(uint32_t crc, const uint8_t *src, size_t src_size);
    const struct h5twin_fpcompress_coders *fpcompress;
};

/* What this processor runs best. */
const struct h5twin_kernels *h5twin_kernels(void);

/* Every variant that this processor can run, for tests: index 0 is scalar; NULL at the end. */
const struct h5twin_kernels *h5twin_kernels_at(unsigned index);

#endif
