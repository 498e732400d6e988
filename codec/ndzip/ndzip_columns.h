/* SPDX-License-Identifier: BSD-3-Clause
 * ndzip_columns.h: PACK and EXPAND of ndzip_block_template.h without an instruction for it.
 *
 * Mostly a head is the sign and an unbroken run of low bits: then the columns are one run too,
 * which is copied four words at a time. */
#ifndef H5TWIN_NDZIP_COLUMNS_H
#define H5TWIN_NDZIP_COLUMNS_H

#include "../common/bits.h"
#include "../common/bytes.h"

#include <stddef.h>
#include <string.h>

#define SPARE 4 /* words */

static inline size_t
pack32(uint8_t *restrict dst, const uint32_t *restrict columns, uint32_t head)
{
    const uint32_t low = head << 1 >> 1;
    size_t kept = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = h5twin_bit_length32(low);
        h5twin_store32(dst, columns[0]);
        dst += 4 * (size_t)(head >> 31);
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                h5twin_store32(dst + 4 * k, columns[32 - run + k]);
            }
        }
        return run + (size_t)(head >> 31);
    }
    for (size_t i = 0; i < 32; i++) {
        h5twin_store32(dst + 4 * kept, columns[i]);
        kept += columns[i] != 0;
    }
    return kept;
}

static inline size_t
pack64(uint8_t *restrict dst, const uint64_t *restrict columns, uint64_t head)
{
    const uint64_t low = head << 1 >> 1;
    size_t kept = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = h5twin_bit_length64(low);
        h5twin_store64(dst, columns[0]);
        dst += 8 * (size_t)(head >> 63);
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                h5twin_store64(dst + 8 * k, columns[64 - run + k]);
            }
        }
        return run + (size_t)(head >> 63);
    }
    for (size_t i = 0; i < 64; i++) {
        h5twin_store64(dst + 8 * kept, columns[i]);
        kept += columns[i] != 0;
    }
    return kept;
}

static inline size_t
expand32(uint32_t *restrict columns, uint32_t head, const uint8_t *restrict src)
{
    const uint32_t low = head << 1 >> 1;
    size_t taken = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = h5twin_bit_length32(low);
        memset(columns, 0, 32 * sizeof columns[0]);
        columns[0] = h5twin_load32(src) & (0u - (head >> 31));
        src += 4 * (size_t)(head >> 31);
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                columns[32 - run + k] = h5twin_load32(src + 4 * k);
            }
        }
        return run + (size_t)(head >> 31);
    }
    for (size_t i = 0; i < 32; i++, head <<= 1) {
        const uint32_t present = head >> 31;
        columns[i] = h5twin_load32(src + 4 * taken) & (0u - present);
        taken += (size_t)present;
    }
    return taken;
}

static inline size_t
expand64(uint64_t *restrict columns, uint64_t head, const uint8_t *restrict src)
{
    const uint64_t low = head << 1 >> 1;
    size_t taken = 0;
    if ((low & (low + 1)) == 0) {
        const unsigned run = h5twin_bit_length64(low);
        memset(columns, 0, 64 * sizeof columns[0]);
        columns[0] = h5twin_load64(src) & (UINT64_C(0) - (head >> 63));
        src += 8 * (size_t)(head >> 63);
        for (size_t i = 0; i < run; i += 4) {
            for (size_t k = i; k < i + 4; k++) {
                columns[64 - run + k] = h5twin_load64(src + 8 * k);
            }
        }
        return run + (size_t)(head >> 63);
    }
    for (size_t i = 0; i < 64; i++, head <<= 1) {
        const uint64_t present = head >> 63;
        columns[i] = h5twin_load64(src + 8 * taken) & (UINT64_C(0) - present);
        taken += (size_t)present;
    }
    return taken;
}

#endif
