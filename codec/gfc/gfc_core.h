/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_core.h: the formulas of GFC, for C and CUDA: how an array is cut into chunks, what predicts
 * a value, and how a residual is written.
 * Source  O'Neil and Burtscher, "Floating-Point Data Compression at 75 Gb/s on a GPU" (GPGPU-4,
 *         2011), and its program GFC 2.2; FORMAT.md. */
#ifndef H5TWIN_GFC_CORE_H
#define H5TWIN_GFC_CORE_H

#include "../common/bits.h"

#include <stddef.h>

#define GFC_LANES               32u /* values of a subchunk */
#define GFC_NIBBLE_BYTES        16u /* their nibbles */
#define GFC_MAX_DIMENSIONALITY  32u
#define GFC_HEADER_BYTES        7u /* then a table of one entry per chunk */
#define GFC_TABLE_ENTRY         4u
#define GFC_MAX_VALUES          0x7FFFFFFFu
#define GFC_WANTED_CHUNK_VALUES 2048u
#define GFC_MAX_BLOCKS          255u
#define GFC_MAX_WARPS           32u /* that this encoder writes; the byte can hold 255 */

/* Largest subchunk. */
#define GFC_SUBCHUNK_BOUND(word_size) (GFC_NIBBLE_BYTES + GFC_LANES * (word_size))

/* ---- chunks ---- */

/* The two header bytes whose product is the number of chunks, from the number of values alone. */
H5TWIN_HD void
h5twin_gfc_choose_split(size_t value_count, unsigned *blocks, unsigned *warps)
{
    const size_t chunks =
        value_count == 0 ? 1 : (value_count - 1) / GFC_WANTED_CHUNK_VALUES + 1; /* wanted */
    const size_t warps_needed = (chunks - 1) / GFC_MAX_BLOCKS + 1;
    *warps = warps_needed < GFC_MAX_WARPS ? (unsigned)warps_needed : GFC_MAX_WARPS;
    const size_t blocks_needed = (chunks - 1) / *warps + 1;
    *blocks = blocks_needed < GFC_MAX_BLOCKS ? (unsigned)blocks_needed : GFC_MAX_BLOCKS;
}

/* value_count rounded up to whole subchunks. */
H5TWIN_HD size_t
h5twin_gfc_padded_count(size_t value_count)
{
    return (value_count + GFC_LANES - 1) / GFC_LANES * GFC_LANES;
}

/* Values of every chunk but the last ones: a multiple of 32, at least 32. */
H5TWIN_HD size_t
h5twin_gfc_chunk_values(size_t padded_count, size_t chunk_count)
{
    const size_t share = padded_count == 0 ? 1 : (padded_count - 1) / chunk_count + 1;
    return h5twin_gfc_padded_count(share);
}

/* ---- prediction ---- */

/* Which of the 32 values of the subchunk before predicts this lane. */
H5TWIN_HD unsigned
h5twin_gfc_predictor(unsigned lane, unsigned dimensionality)
{
    return GFC_LANES - dimensionality + lane % dimensionality;
}

/* Which value is repeated at the place `index` past the end, where the last chunk has more than one
 * subchunk. The reference counts from the start of the array here, but from the start of the
 * subchunk in its prediction, so these are not always residuals of zero. */
H5TWIN_HD size_t
h5twin_gfc_pad_source(size_t index, unsigned dimensionality)
{
    return index / GFC_LANES * GFC_LANES - (dimensionality - index % dimensionality);
}

/* ---- residuals: sign, number of bytes, bytes ---- */

H5TWIN_HD uint32_t
h5twin_gfc_magnitude32(uint32_t residual)
{
    const uint32_t sign = residual >> 31;
    return (residual ^ (0u - sign)) + sign;
}

H5TWIN_HD uint64_t
h5twin_gfc_magnitude64(uint64_t residual)
{
    const uint64_t sign = residual >> 63;
    return (residual ^ (UINT64_C(0) - sign)) + sign;
}

/* Bytes stored of a magnitude: 0..4. */
H5TWIN_HD unsigned
h5twin_gfc_stored_bytes32(uint32_t magnitude)
{
    return (h5twin_bit_length32(magnitude) + 7u) / 8u;
}

/* 0, 1, 3..8: the 3-bit code has no place for 2. */
H5TWIN_HD unsigned
h5twin_gfc_stored_bytes64(uint64_t magnitude)
{
    const unsigned bytes = (h5twin_bit_length64(magnitude) + 7u) / 8u;
    return bytes + (bytes == 2u ? 1u : 0u);
}

/* The 3-bit code of a number of stored bytes and back. Code and bytes are the same for 32-bit
 * words, where codes above 4 are invalid. */
H5TWIN_HD unsigned
h5twin_gfc_code64(unsigned stored_bytes)
{
    return stored_bytes - (stored_bytes > 1u ? 1u : 0u);
}

H5TWIN_HD unsigned
h5twin_gfc_code_bytes64(unsigned code)
{
    return code + (code > 1u ? 1u : 0u);
}

#endif
