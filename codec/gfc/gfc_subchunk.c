/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_subchunk.c: subchunks of GFC in plain C.
 *
 * Each residual is stored as a whole word and the position then moved on by its own size: 7 bytes
 * too many at most, which the next one overwrites. Where the buffer ends too soon for that, a
 * subchunk goes through a buffer of its own. The functions with a word size are inlined into one
 * caller per size, so that nothing is decided inside the loops.
 * Source  FORMAT.md sections 4 to 6. */
#include "gfc_subchunk.h"

#include "../common/bytes.h"
#include "gfc_core.h"

#include <string.h>

#define SLACK 8u /* bytes that a load or store may reach beyond its residual */

static inline uint64_t
load_word(const uint8_t *src, unsigned word_size)
{
    return word_size == 4 ? h5twin_load32(src) : h5twin_load64(src);
}

/* Where the predictors of the lanes lie, in bytes from the subchunk before. */
struct predictors {
    uint16_t offset[GFC_LANES];
};

static struct predictors
find_predictors(unsigned dimensionality, unsigned word_size)
{
    struct predictors predictors;
    for (unsigned lane = 0; lane < GFC_LANES; lane++) {
        predictors.offset[lane] =
            (uint16_t)(h5twin_gfc_predictor(lane, dimensionality) * word_size);
    }
    return predictors;
}

/* Code and stored bytes of one value. */
struct residual {
    uint64_t magnitude;
    unsigned stored_bytes;
    unsigned nibble;
};

static inline struct residual
find_residual(const uint8_t *value, const uint8_t *prediction, unsigned word_size)
{
    struct residual residual;
    if (word_size == 4) {
        const uint32_t difference = h5twin_load32(value) - h5twin_load32(prediction);
        const uint32_t magnitude = h5twin_gfc_magnitude32(difference);
        residual.magnitude = magnitude;
        residual.stored_bytes = h5twin_gfc_stored_bytes32(magnitude);
        residual.nibble = ((difference >> 31) << 3) | residual.stored_bytes;
    } else {
        const uint64_t difference = h5twin_load64(value) - h5twin_load64(prediction);
        residual.magnitude = h5twin_gfc_magnitude64(difference);
        residual.stored_bytes = h5twin_gfc_stored_bytes64(residual.magnitude);
        residual.nibble =
            ((unsigned)(difference >> 63) << 3) | h5twin_gfc_code64(residual.stored_bytes);
    }
    return residual;
}

/* ---- encode ---- */

/* May write SLACK bytes more than it returns. */
static inline size_t
encode_subchunk(uint8_t *restrict dst, const uint8_t *restrict src,
                const uint8_t *restrict previous, const struct predictors *predictors,
                unsigned word_size)
{
    uint8_t *bytes = dst + GFC_NIBBLE_BYTES;
    for (unsigned lane = 0; lane < GFC_LANES; lane += 2) {
        const struct residual even =
            find_residual(src + lane * word_size, previous + predictors->offset[lane], word_size);
        const struct residual odd = find_residual(
            src + (lane + 1) * word_size, previous + predictors->offset[lane + 1], word_size);
        dst[lane / 2] = (uint8_t)(even.nibble | (odd.nibble << 4));
        h5twin_store64(bytes, even.magnitude);
        bytes += even.stored_bytes;
        h5twin_store64(bytes, odd.magnitude);
        bytes += odd.stored_bytes;
    }
    return (size_t)(bytes - dst);
}

static inline size_t
encode_words(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
             const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        if (writable - position >= GFC_SUBCHUNK_BOUND(word_size) + SLACK) {
            position += encode_subchunk(dst + position, src, previous, &predictors, word_size);
        } else {
            uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
            const size_t size = encode_subchunk(buffer, src, previous, &predictors, word_size);
            memcpy(dst + position, buffer, size);
            position += size;
        }
        previous = src;
        src += GFC_LANES * word_size;
    }
    return position;
}

static size_t
encode(uint8_t *restrict dst, size_t writable, const uint8_t *src, size_t subchunk_count,
       const uint8_t *previous, unsigned dimensionality, unsigned word_size)
{
    return word_size == 4
               ? encode_words(dst, writable, src, subchunk_count, previous, dimensionality, 4)
               : encode_words(dst, writable, src, subchunk_count, previous, dimensionality, 8);
}

/* ---- decode ---- */

/* Bytes after the nibbles; false if a code is invalid. */
static inline bool
count_stored_bytes(const uint8_t *nibbles, unsigned word_size, size_t *stored_bytes)
{
    unsigned sum = 0;
    bool valid = true;
    for (unsigned i = 0; i < GFC_NIBBLE_BYTES; i++) {
        const unsigned even = nibbles[i] & 7u;
        const unsigned odd = (nibbles[i] >> 4) & 7u;
        if (word_size == 4) {
            sum += even + odd;
            valid = valid && even <= 4 && odd <= 4;
        } else {
            sum += h5twin_gfc_code_bytes64(even) + h5twin_gfc_code_bytes64(odd);
        }
    }
    *stored_bytes = sum;
    return valid;
}

/* Reads SLACK bytes more than the subchunk has. */
static inline void
decode_subchunk(uint8_t *dst, const uint8_t *previous, const struct predictors *predictors,
                const uint8_t *restrict src, unsigned word_size)
{
    static const uint64_t masks[9] = {0,
                                      0xFF,
                                      0xFFFF,
                                      0xFFFFFF,
                                      0xFFFFFFFF,
                                      UINT64_C(0xFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFFFF),
                                      UINT64_C(0xFFFFFFFFFFFFFFFF)};
    const uint8_t *bytes = src + GFC_NIBBLE_BYTES;
    for (unsigned lane = 0; lane < GFC_LANES; lane++) {
        const unsigned nibble = (unsigned)src[lane / 2] >> (4 * (lane % 2));
        const unsigned code = nibble & 7u;
        const unsigned stored_bytes = word_size == 4 ? code : h5twin_gfc_code_bytes64(code);
        const uint64_t magnitude = h5twin_load64(bytes) & masks[stored_bytes];
        const uint64_t negative = UINT64_C(0) - ((nibble >> 3) & 1u); /* all ones if so */
        const uint64_t value = load_word(previous + predictors->offset[lane], word_size) +
                               ((magnitude ^ negative) - negative);
        bytes += stored_bytes;
        if (word_size == 4) {
            h5twin_store32(dst + 4 * lane, (uint32_t)value);
        } else {
            h5twin_store64(dst + 8 * lane, value);
        }
    }
}

static inline enum h5twin_status
decode_words(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
             unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    const struct predictors predictors = find_predictors(dimensionality, word_size);
    size_t position = 0;
    for (size_t subchunk = 0; subchunk < subchunk_count; subchunk++) {
        const size_t available = src_size - position;
        size_t size;
        if (available < GFC_NIBBLE_BYTES || !count_stored_bytes(src + position, word_size, &size) ||
            (size += GFC_NIBBLE_BYTES) > available) {
            return H5TWIN_ERR_CORRUPT;
        }
        if (available - size >= SLACK) {
            decode_subchunk(dst, previous, &predictors, src + position, word_size);
        } else {
            uint8_t buffer[GFC_SUBCHUNK_BOUND(8) + SLACK];
            memcpy(buffer, src + position, size);
            memset(buffer + size, 0, SLACK);
            decode_subchunk(dst, previous, &predictors, buffer, word_size);
        }
        position += size;
        previous = dst;
        dst += GFC_LANES * word_size;
    }
    *src_used = position;
    return H5TWIN_OK;
}

static enum h5twin_status
decode(uint8_t *dst, size_t subchunk_count, const uint8_t *previous, unsigned dimensionality,
       unsigned word_size, const uint8_t *restrict src, size_t src_size, size_t *src_used)
{
    return word_size == 4 ? decode_words(dst, subchunk_count, previous, dimensionality, 4, src,
                                         src_size, src_used)
                          : decode_words(dst, subchunk_count, previous, dimensionality, 8, src,
                                         src_size, src_used);
}

const struct h5twin_gfc_kernels h5twin_gfc_kernels_scalar = {
    .encode = encode,
    .decode = decode,
};
