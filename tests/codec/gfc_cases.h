/* SPDX-License-Identifier: BSD-3-Clause
 * gfc_cases.h: arrays for the tests of GFC, and a GFC encoder that shares no code with the library.
 */
#ifndef H5TWIN_TESTS_GFC_CASES_H
#define H5TWIN_TESTS_GFC_CASES_H

#include "h5twin.h"

#include <stdlib.h>
#include <string.h>

/* A simple generator, the same everywhere. */
static inline uint64_t
case_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t x = *state ^ (*state >> 33);
    return x * UINT64_C(0xFF51AFD7ED558CCD) ^ (x >> 29);
}

/* size bytes in which neighbouring words differ by numbers of every length and both signs. */
static inline void
case_fill(uint8_t *dst, size_t size, unsigned word_size, uint64_t seed)
{
    uint64_t word = case_random(&seed);
    for (size_t i = 0; i < size; i += word_size) {
        const uint64_t random = case_random(&seed);
        const unsigned bits = (unsigned)(random % (8 * word_size + 1));
        const uint64_t step = bits == 0 ? 0 : case_random(&seed) >> (64 - bits);
        word = (random >> 32) % 16 == 0  ? UINT64_C(0x8000000080000000)
               : (random >> 40) % 2 != 0 ? word + step
                                         : word - step;
        for (size_t byte = 0; byte < word_size && i + byte < size; byte++) {
            dst[i + byte] = (uint8_t)(word >> (8 * byte));
        }
    }
}

static inline struct h5twin_params
case_params(unsigned word_size, unsigned dimensionality)
{
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_GFC);
    params.kind = H5TWIN_FLOAT;
    params.element_size = word_size;
    params.options = dimensionality; /* field value N is the number N */
    return params;
}

static inline uint64_t
case_word(const uint8_t *src, size_t index, unsigned word_size)
{
    uint64_t word = 0;
    for (unsigned byte = 0; byte < word_size; byte++) {
        word |= (uint64_t)src[index * word_size + byte] << (8 * byte);
    }
    return word;
}

/* One subchunk by FORMAT.md sections 5 and 6; returns its size. */
static inline size_t
case_encode_subchunk(uint8_t *dst, const uint64_t *words, const uint64_t *predictions,
                     unsigned word_size)
{
    const uint64_t mask = word_size == 4 ? 0xFFFFFFFF : UINT64_MAX;
    size_t size = 16;
    memset(dst, 0, 16);
    for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t residual = (words[lane] - predictions[lane]) & mask;
        const unsigned sign = (unsigned)(residual >> (8 * word_size - 1));
        residual = sign != 0 ? (0 - residual) & mask : residual;
        unsigned bytes = 0;
        while (bytes < 8 && residual >> (8 * bytes) != 0) {
            bytes++;
        }
        if (word_size == 8 && bytes == 2) {
            bytes = 3;
        }
        const unsigned code = word_size == 8 && bytes > 1 ? bytes - 1 : bytes;
        dst[lane / 2] |= (uint8_t)((8 * sign + code) << (lane % 2 == 0 ? 0 : 4));
        for (unsigned byte = 0; byte < bytes; byte++) {
            dst[size++] = (uint8_t)(residual >> (8 * byte));
        }
    }
    return size;
}

/* The stream of `size` bytes cut into blocks * warps chunks, after FORMAT.md, word by word. Returns
 * its size; dst has room for it. */
static inline size_t
case_encode(uint8_t *dst, const uint8_t *src, size_t size, unsigned word_size,
            unsigned dimensionality, unsigned blocks, unsigned warps)
{
    const size_t count = size / word_size, padded = (count + 31) / 32 * 32;
    const size_t chunks = (size_t)blocks * warps;
    size_t per_chunk = ((padded + chunks - 1) / chunks + 31) / 32 * 32;
    per_chunk = per_chunk == 0 ? 32 : per_chunk;
    const size_t last_begin = padded == 0 ? 0 : (padded - 1) / per_chunk * per_chunk;
    uint64_t *const words = calloc(padded + 1, sizeof *words);
    for (size_t i = 0; i < padded; i++) {
        if (i < count) {
            words[i] = case_word(src, i, word_size);
        } else if (padded - last_begin > 32) {
            words[i] = words[32 * (i / 32) - (dimensionality - i % dimensionality)];
        }
    }
    dst[0] = (uint8_t)blocks;
    dst[1] = (uint8_t)warps;
    dst[2] = (uint8_t)dimensionality;
    for (unsigned byte = 0; byte < 4; byte++) {
        dst[3 + byte] = (uint8_t)(count >> (8 * byte));
    }
    size_t position = 7 + 4 * chunks;
    for (size_t chunk = 0; chunk < chunks; chunk++) {
        const size_t start = position;
        for (size_t i = chunk * per_chunk; i < (chunk + 1) * per_chunk && i < padded; i += 32) {
            uint64_t predictions[32] = {0};
            for (unsigned lane = 0; i != chunk * per_chunk && lane < 32; lane++) {
                predictions[lane] = words[i - dimensionality + lane % dimensionality];
            }
            position += case_encode_subchunk(dst + position, words + i, predictions, word_size);
        }
        for (unsigned byte = 0; byte < 4; byte++) {
            dst[7 + 4 * chunk + byte] = (uint8_t)((position - start) >> (8 * byte));
        }
    }
    memcpy(dst + position, src + count * word_size, size % word_size);
    free(words);
    return position + size % word_size;
}

#endif
