/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_header_core.h: the 16 bytes before every stream and every segment, for C and CUDA;
 * FORMAT.md 2. */
#ifndef H5TWIN_E2MC_HEADER_CORE_H
#define H5TWIN_E2MC_HEADER_CORE_H

#include "../common/bytes.h"
#include "e2mc_core.h"

#define H5TWIN_E2MC_HEADER_BYTES 16u

enum h5twin_e2mc_kind {
    H5TWIN_E2MC_RAW = 0,
    H5TWIN_E2MC_CODED = 1,
    H5TWIN_E2MC_CONSTANT = 2,
    H5TWIN_E2MC_SEGMENTS = 3,
};

struct h5twin_e2mc_header {
    enum h5twin_e2mc_kind kind;
    struct h5twin_e2mc_geometry geometry;
    unsigned stride;       /* of the delta, in words; 0 = no delta */
    unsigned segment_log2; /* bytes; kind SEGMENTS only */
    uint32_t raw_size;     /* bytes */
    uint32_t book_size;    /* bytes of codebook or directory */
};

#define H5TWIN_E2MC_MAGIC   0xE2u
#define H5TWIN_E2MC_VERSION 1u

H5TWIN_HD void
h5twin_e2mc_header_write(uint8_t *dst, const struct h5twin_e2mc_header *header)
{
    const struct h5twin_e2mc_geometry *const geometry = &header->geometry;
    dst[0] = H5TWIN_E2MC_MAGIC;
    dst[1] = (uint8_t)(H5TWIN_E2MC_VERSION << 4 | (unsigned)header->kind);
    dst[2] = (uint8_t)(geometry->word_log2 << 4 | geometry->symbol_log2);
    dst[3] = (uint8_t)(geometry->way_log2 << 4 | geometry->block_log2);
    dst[4] = (uint8_t)((header->stride != 0 ? 0x10u : 0u) | geometry->granule_log2);
    dst[5] = (uint8_t)header->stride;
    dst[6] = (uint8_t)header->segment_log2;
    dst[7] = 0;
    h5twin_store32(dst + 8, header->raw_size);
    h5twin_store32(dst + 12, header->book_size);
}

#endif
