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

/* The first canonical code of each length. */
void h5twin_huffman_first_codes(uint32_t first_codes[H5TWIN_HUFFMAN_LENGTHS],
                                const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]);

#ifdef __cplusplus
}
#endif
#endif
