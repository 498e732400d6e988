/* SPDX-License-Identifier: BSD-3-Clause
 * huffman.h: canonical Huffman codes of limited length, in integer arithmetic only.
 *
 * Leaves are given by rank: weights from the largest to the smallest. The lengths come out as the
 * number of leaves of each length, to be handed out by rank, shortest first. Canonical codes: the
 * first is 0, each next one is the one before plus 1, shifted left where the length grows.
 * Source  Huffman's algorithm with two queues (van Leeuwen, 1976); the order of ties and the way
 *         of limiting the length are this project's, and normative for E2MC streams. */
#ifndef H5TWIN_COMMON_HUFFMAN_H
#define H5TWIN_COMMON_HUFFMAN_H

#include "huffman_core.h"

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_huffman_scratch {
    uint64_t weight[H5TWIN_HUFFMAN_MAX_LEAVES]; /* of internal nodes, in order of creation */
    uint16_t parent[H5TWIN_HUFFMAN_MAX_LEAVES];
    uint8_t leaf_children[H5TWIN_HUFFMAN_MAX_LEAVES];
};

/* length_counts[l] = number of leaves whose code has l bits. leaf_count 1..2^max_length and at
 * most MAX_LEAVES; weights > 0, non-increasing, their sum below 2^60. One leaf gets length 0.
 *
 * Weights below floor = max(1, sum >> max_length) count as floor. Of two equal weights the leaf is
 * taken before the internal node. Depths beyond the limit are then cut to it, and while the code
 * is over-subscribed, one leaf of the longest length moves beside the deepest shorter leaf. */
void h5twin_huffman_length_counts(uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS],
                                  const uint64_t *weights, size_t leaf_count, unsigned max_length,
                                  struct h5twin_huffman_scratch *scratch);

/* Whether the lengths fill the code space exactly. Any counts below 2^32. */
bool h5twin_huffman_is_complete(const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]);

/* The first canonical code of each length. */
void h5twin_huffman_first_codes(uint32_t first_codes[H5TWIN_HUFFMAN_LENGTHS],
                                const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]);

/* To decode without a table of all codes. */
struct h5twin_huffman_decoder {
    uint64_t limit[H5TWIN_HUFFMAN_LENGTHS]; /* first 32-bit window beyond the codes of a length */
    uint32_t first_code[H5TWIN_HUFFMAN_LENGTHS];
    uint32_t first_leaf[H5TWIN_HUFFMAN_LENGTHS]; /* index of the first leaf of a length */
};

void h5twin_huffman_decoder_init(struct h5twin_huffman_decoder *decoder,
                                 const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]);

/* Index, in order of the codes, of the leaf whose code begins the left-aligned window, for a
 * complete code none of whose lengths below min_length can match. */
static inline uint32_t
h5twin_huffman_decode(const struct h5twin_huffman_decoder *decoder, uint64_t window,
                      unsigned min_length)
{
    const uint64_t top = window >> 32;
    unsigned length = min_length;
    while (length < H5TWIN_HUFFMAN_MAX_LENGTH && top >= decoder->limit[length]) {
        length++;
    }
    const uint32_t code = length == 0 ? 0 : (uint32_t)(window >> (64u - length));
    return decoder->first_leaf[length] + (code - decoder->first_code[length]);
}

#ifdef __cplusplus
}
#endif
#endif
