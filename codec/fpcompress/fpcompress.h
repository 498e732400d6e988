/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress.h: the four coders of FPcompress inside this folder.
 *
 * Each turns blocks of up to 16 KiB into stored blocks of FORMAT.md; the container around them is
 * common/blocks.h. DPratio codes an array twice as long as the input, which exists only block by
 * block: fetch and store make it from, and back into, the words and the distances of FCM. */
#ifndef H5TWIN_FPCOMPRESS_H
#define H5TWIN_FPCOMPRESS_H

#include "../common/blocks.h"
#include "ratio_stages.h"

/* Without context. */
extern const struct h5twin_block_codec h5twin_spspeed_blocks_scalar;
extern const struct h5twin_block_codec h5twin_dpspeed_blocks_scalar;
extern const struct h5twin_block_codec h5twin_spspeed_blocks_avx2;
extern const struct h5twin_block_codec h5twin_dpspeed_blocks_avx2;
extern const struct h5twin_block_codec h5twin_spspeed_blocks_avx512;
extern const struct h5twin_block_codec h5twin_dpspeed_blocks_avx512;

/* What differs from one instruction set to the next. */
struct h5twin_fpcompress_kernels {
    const struct h5twin_block_codec *spspeed;
    const struct h5twin_block_codec *dpspeed;
    const struct h5twin_ratio_kernels *ratio_stages;
};

extern const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_scalar;
extern const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_avx2;
extern const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_avx512;

const struct h5twin_fpcompress_kernels *h5twin_fpcompress_kernels_for(h5twin_isa isa);

/* With a struct h5twin_ratio_kernels, and a struct h5twin_dpratio, as context. */
extern const struct h5twin_block_codec h5twin_spratio_blocks;
extern const struct h5twin_block_codec h5twin_dpratio_blocks;

struct h5twin_dpratio {
    const struct h5twin_ratio_kernels *stages;
    const uint8_t *src; /* encode: value_count words */
    uint8_t *dst;       /* decode: the same */
    size_t value_count;
    uint32_t *distances; /* value_count of them; 0 = the word stands for itself */
    /* decode: */
    const uint8_t *src_end; /* of the stream */
    uint8_t *is_present;    /* h5twin_dpratio_block_count() flags: the block has distances; if it
                               has none, those of the array are not written */
};

/* Blocks of the coded array. */
size_t h5twin_dpratio_block_count(size_t value_count);

/* Once all blocks are decoded: the words that distances stand for. */
void h5twin_dpratio_restore(const struct h5twin_dpratio *array);

/* Find for each of value_count words (at most H5TWIN_FPC_MAX_VALUES) the distance back to an equal
 * word in an equal context. distances comes in all zero. H5TWIN_OK or H5TWIN_ERR_MEMORY. */
enum h5twin_status h5twin_fcm_match(uint32_t *restrict distances, const uint8_t *restrict src,
                                    size_t value_count, unsigned threads);

/* Same, with room for round_values positions at a time, more only if more are in one partition. */
enum h5twin_status h5twin_fcm_match_in_rounds(uint32_t *restrict distances,
                                              const uint8_t *restrict src, size_t value_count,
                                              unsigned threads, size_t round_values);

/* Give every word in [begin, end) of dst with a distance (at most its index) the word that far
 * back. */
void h5twin_fcm_restore(uint8_t *restrict dst, const uint32_t *restrict distances, size_t begin,
                        size_t end);

/* RAZE and RARE on src_size (at most 16384) bytes. dst has room for H5TWIN_WORD_ELIM_BOUND bytes.
 * Returns the size, which is a failure from H5TWIN_FPC_PART_LIMIT on. */
#define H5TWIN_WORD_ELIM_BOUND (16384u + 512u)
size_t h5twin_raze_encode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                          const uint8_t *restrict src, size_t src_size);
size_t h5twin_rare_encode(const struct h5twin_ratio_kernels *stages, uint8_t *restrict dst,
                          const uint8_t *restrict src, size_t src_size);

/* The inverse; dst has room for dst_capacity bytes. *dst_size is what the stream says of itself.
 * H5TWIN_STAGE_ROOM bytes behind src must be readable. */
enum h5twin_status h5twin_raze_decode(const struct h5twin_ratio_kernels *stages,
                                      uint8_t *restrict dst, size_t dst_capacity, size_t *dst_size,
                                      const uint8_t *restrict src, size_t src_size);
enum h5twin_status h5twin_rare_decode(const struct h5twin_ratio_kernels *stages,
                                      uint8_t *restrict dst, size_t dst_capacity, size_t *dst_size,
                                      const uint8_t *restrict src, size_t src_size);

#endif
