/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_transform.h: delta between words of a block, exact for any bit pattern; FORMAT.md 5. */
#ifndef H5TWIN_E2MC_TRANSFORM_H
#define H5TWIN_E2MC_TRANSFORM_H

#include "../common/bytes.h"
#include "e2mc.h"

#if defined(__AVX512BW__)
#    include "../common/sum_avx512.h"
#    define SUM32 h5twin_sum32_avx512
#    define SUM64 h5twin_sum64_avx512
#elif defined(__AVX2__)
#    include "../common/sum_avx2.h"
#    define SUM32 h5twin_sum32_avx2
#    define SUM64 h5twin_sum64_avx2
#endif

/* Call a function whose last argument, the word size, is a constant. */
#define FOR_WORD_SIZE(word_size, function, ...)                                                    \
    ((word_size) == 1   ? function(__VA_ARGS__, 1)                                                 \
     : (word_size) == 2 ? function(__VA_ARGS__, 2)                                                 \
     : (word_size) == 4 ? function(__VA_ARGS__, 4)                                                 \
                        : function(__VA_ARGS__, 8))

/* One block. step: the stride in bytes. */
H5TWIN_FORCE_INLINE void
apply(uint8_t *restrict codes, const uint8_t *restrict words, size_t size, size_t step,
      unsigned word_size)
{
    const size_t head = step < size ? step : size;
    memset(codes, 0, head);
    for (size_t at = head; at < size; at += word_size) {
        h5twin_store_word(codes + at,
                          h5twin_e2mc_delta(h5twin_load_word(words + at, word_size),
                                            h5twin_load_word(words + at - step, word_size),
                                            word_size),
                          word_size);
    }
}

/* codes = zigzag of the differences inside each block, size bytes (whole words). */
static inline void
h5twin_e2mc_delta_apply(const struct h5twin_e2mc_geometry *geometry, unsigned stride,
                        uint8_t *restrict codes, const uint8_t *restrict words, size_t size)
{
    const size_t block_size = h5twin_e2mc_block_size(geometry);
    const size_t step = (size_t)stride << geometry->word_log2;
    for (size_t begin = 0; begin < size; begin += block_size) {
        const size_t left = size - begin < block_size ? size - begin : block_size;
        FOR_WORD_SIZE(h5twin_e2mc_word_size(geometry), apply, codes + begin, words + begin, left,
                      step);
    }
}

/* All words from codes of differences to the word before, of which the first is 0. */
H5TWIN_FORCE_INLINE void
sum(uint8_t *block, size_t size, uint64_t word, unsigned word_size)
{
#ifdef SUM32
    if (word_size == 4) {
        SUM32(block, block, size / 4, (uint32_t)word, false);
        return;
    }
    if (word_size == 8) {
        SUM64(block, block, size / 8, word, false);
        return;
    }
#endif
    for (size_t at = 0; at < size; at += word_size) {
        word = h5twin_e2mc_undelta(h5twin_load_word(block + at, word_size), word, word_size);
        h5twin_store_word(block + at, word, word_size);
    }
}

H5TWIN_FORCE_INLINE void
undo(uint8_t *block, size_t size, const uint8_t *anchors, size_t step, unsigned word_size)
{
    if (step == word_size) {
        h5twin_store_word(block, 0, word_size); /* whatever the stream says */
        sum(block, size, h5twin_load_word(anchors, word_size), word_size);
        return;
    }
    memcpy(block, anchors, step < size ? step : size);
    for (size_t at = step; at < size; at += word_size) {
        h5twin_store_word(block + at,
                          h5twin_e2mc_undelta(h5twin_load_word(block + at, word_size),
                                              h5twin_load_word(block + at - step, word_size),
                                              word_size),
                          word_size);
    }
}

/* Undo it in place for one block of size bytes whose first words are anchors. */
static inline void
h5twin_e2mc_delta_undo(unsigned word_size, unsigned stride, uint8_t *block, size_t size,
                       const uint8_t *anchors)
{
    const size_t step = (size_t)stride * word_size;
    FOR_WORD_SIZE(word_size, undo, block, size, anchors, step);
}

/* The first stride words of each block, absent ones 0; returns their size. */
static inline size_t
h5twin_e2mc_anchors_write(const struct h5twin_e2mc_geometry *geometry, unsigned stride,
                          uint8_t *anchors, const uint8_t *words, size_t size)
{
    const size_t block_size = h5twin_e2mc_block_size(geometry);
    const size_t step = (size_t)stride << geometry->word_log2;
    uint8_t *at = anchors;
    for (size_t begin = 0; begin < size && stride != 0; begin += block_size, at += step) {
        const size_t there = size - begin < step ? size - begin : step;
        memcpy(at, words + begin, there);
        memset(at + there, 0, step - there);
    }
    return (size_t)(at - anchors);
}

#endif
