/* SPDX-License-Identifier: BSD-3-Clause
 * huffman_core.h: lengths of Huffman codes and canonical codes, for C and CUDA; see huffman.h,
 * which says what they are. */
#ifndef H5TWIN_COMMON_HUFFMAN_CORE_H
#define H5TWIN_COMMON_HUFFMAN_CORE_H

#include "../common/hd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define H5TWIN_HUFFMAN_MAX_LENGTH 20u   /* bits */
#define H5TWIN_HUFFMAN_MAX_LEAVES 4097u /* 4096 symbols and an escape */
#define H5TWIN_HUFFMAN_LENGTHS    (H5TWIN_HUFFMAN_MAX_LENGTH + 1u)

/* The internal nodes in order of creation, one less than leaves. */
struct h5twin_huffman_nodes {
    uint64_t *weight;
    uint16_t *parent; /* then depth: nodes are visited from the root, and parents stand later */
    uint8_t *leaf_children;
};

/* Join the two lightest nodes until one is left. The leaves stand in weights, heaviest first. */
H5TWIN_HD void
h5twin_huffman_build_tree(const struct h5twin_huffman_nodes *nodes, const uint64_t *weights,
                          size_t leaf_count, uint64_t floor)
{
    size_t leaves_left = leaf_count;
    size_t first_node = 0; /* oldest internal node without a parent */
    for (size_t node = 0; node + 1 < leaf_count; node++) {
        uint64_t weight = 0;
        uint8_t leaf_children = 0;
        for (unsigned child = 0; child < 2; child++) {
            uint64_t leaf_weight = leaves_left == 0 ? UINT64_MAX : weights[leaves_left - 1];
            leaf_weight = leaf_weight > floor ? leaf_weight : floor;
            if (first_node == node || leaf_weight <= nodes->weight[first_node]) {
                weight += leaf_weight;
                leaves_left--;
                leaf_children++;
            } else {
                weight += nodes->weight[first_node];
                nodes->parent[first_node++] = (uint16_t)node;
            }
        }
        nodes->weight[node] = weight;
        nodes->leaf_children[node] = leaf_children;
    }
}

/* Make room for all leaves by lengthening short codes. */
H5TWIN_HD void
h5twin_huffman_repair(uint32_t *length_counts, unsigned max_length)
{
    const uint64_t room = UINT64_C(1) << max_length;
    uint64_t sum = 0;
    for (unsigned length = 0; length <= max_length; length++) {
        sum += (uint64_t)length_counts[length] << (max_length - length);
    }
    for (; sum > room; sum--) {
        unsigned length = max_length - 1;
        while (length_counts[length] == 0) {
            length--;
        }
        length_counts[max_length]--;
        length_counts[length]--;
        length_counts[length + 1] += 2;
    }
}

/* h5twin_huffman_length_counts with memory of the caller's choice. */
H5TWIN_HD void
h5twin_huffman_count_lengths(uint32_t *length_counts, const uint64_t *weights, size_t leaf_count,
                             unsigned max_length, const struct h5twin_huffman_nodes *nodes)
{
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        length_counts[length] = 0;
    }
    if (leaf_count == 1) {
        length_counts[0] = 1;
        return;
    }
    uint64_t sum = 0;
    for (size_t leaf = 0; leaf < leaf_count; leaf++) {
        sum += weights[leaf];
    }
    const uint64_t floor = sum >> max_length;
    h5twin_huffman_build_tree(nodes, weights, leaf_count, floor == 0 ? 1 : floor);
    const size_t root = leaf_count - 2;
    for (size_t node = root + 1; node-- > 0;) {
        const unsigned depth = node == root ? 0 : nodes->parent[nodes->parent[node]] + 1u;
        nodes->parent[node] = (uint16_t)depth;
        length_counts[depth < max_length ? depth + 1 : max_length] += nodes->leaf_children[node];
    }
    h5twin_huffman_repair(length_counts, max_length);
}

/* The first canonical code of each length. */
H5TWIN_HD void
h5twin_huffman_canonical_starts(uint32_t *first_codes, const uint32_t *length_counts)
{
    uint32_t code = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        first_codes[length] = code;
        code = (code + length_counts[length]) << 1;
    }
}

/* Whether the lengths fill the code space exactly. Any counts below 2^32. */
H5TWIN_HD bool
h5twin_huffman_is_complete(const uint32_t *length_counts)
{
    uint64_t sum = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        sum += (uint64_t)length_counts[length] << (H5TWIN_HUFFMAN_MAX_LENGTH - length);
    }
    return sum == UINT64_C(1) << H5TWIN_HUFFMAN_MAX_LENGTH;
}

/* To decode without a table of all codes. */
struct h5twin_huffman_decoder {
    uint64_t limit[H5TWIN_HUFFMAN_LENGTHS]; /* first 32-bit window beyond the codes of a length */
    uint32_t first_code[H5TWIN_HUFFMAN_LENGTHS];
    uint32_t first_leaf[H5TWIN_HUFFMAN_LENGTHS]; /* index of the first leaf of a length */
};

H5TWIN_HD void
h5twin_huffman_decoder_init(struct h5twin_huffman_decoder *decoder, const uint32_t *length_counts)
{
    uint32_t leaf = 0;
    h5twin_huffman_canonical_starts(decoder->first_code, length_counts);
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        const uint64_t end = (uint64_t)decoder->first_code[length] + length_counts[length];
        decoder->limit[length] = end << (32u - length);
        decoder->first_leaf[length] = leaf;
        leaf += length_counts[length];
    }
}

/* Length of the code that begins a 32-bit window, for a complete code none of whose lengths below
 * min_length can match. */
H5TWIN_HD unsigned
h5twin_huffman_find_length(const struct h5twin_huffman_decoder *decoder, uint32_t window,
                           unsigned min_length)
{
    unsigned length = min_length;
    while (length < H5TWIN_HUFFMAN_MAX_LENGTH && window >= decoder->limit[length]) {
        length++;
    }
    return length;
}

/* Index, in order of the codes, of the leaf whose code of that length begins the window. */
H5TWIN_HD uint32_t
h5twin_huffman_leaf(const struct h5twin_huffman_decoder *decoder, uint32_t window, unsigned length)
{
    const uint32_t code = length == 0 ? 0 : window >> (32u - length);
    return decoder->first_leaf[length] + (code - decoder->first_code[length]);
}

/* Both, for a left-aligned window. */
H5TWIN_HD uint32_t
h5twin_huffman_decode(const struct h5twin_huffman_decoder *decoder, uint64_t window,
                      unsigned min_length)
{
    const uint32_t top = (uint32_t)(window >> 32);
    return h5twin_huffman_leaf(decoder, top, h5twin_huffman_find_length(decoder, top, min_length));
}

#endif
