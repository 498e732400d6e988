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

bool
h5twin_huffman_is_complete(const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS])
{
    uint64_t sum = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        sum += (uint64_t)length_counts[length] << (H5TWIN_HUFFMAN_MAX_LENGTH - length);
    }
    return sum == UINT64_C(1) << H5TWIN_HUFFMAN_MAX_LENGTH;
}

void
h5twin_huffman_first_codes(uint32_t first_codes[H5TWIN_HUFFMAN_LENGTHS],
                           const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS])
{
    h5twin_huffman_canonical_starts(first_codes, length_counts);
}

void
h5twin_huffman_decoder_init(struct h5twin_huffman_decoder *decoder,
                            const uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS])
{
    uint32_t leaf = 0;
    h5twin_huffman_first_codes(decoder->first_code, length_counts);
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        const uint64_t end = (uint64_t)decoder->first_code[length] + length_counts[length];
        decoder->limit[length] = end << (32u - length);
        decoder->first_leaf[length] = leaf;
        leaf += length_counts[length];
    }
}
