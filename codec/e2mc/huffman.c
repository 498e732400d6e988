/* SPDX-License-Identifier: BSD-3-Clause
 * huffman.c: see huffman.h. */
#include "huffman.h"

void
h5twin_huffman_length_counts(uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS],
                             const uint64_t *weights, size_t leaf_count, unsigned max_length,
                             struct h5twin_huffman_scratch *scratch)
{
    const struct h5twin_huffman_nodes nodes = {
        .weight = scratch->weight,
        .parent = scratch->parent,
        .leaf_children = scratch->leaf_children,
    };
    h5twin_huffman_count_lengths(length_counts, weights, leaf_count, max_length, &nodes);
}

void
h5twin_huffman_first_codes(uint32_t first_codes[H5TWIN_HUFFMAN_LENGTHS],
                           const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS])
{
    h5twin_huffman_canonical_starts(first_codes, length_counts);
}
