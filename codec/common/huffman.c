/* SPDX-License-Identifier: BSD-3-Clause
 * huffman.c: see huffman.h. */
#include "huffman.h"

#include <string.h>

/* Join the two lightest nodes until one is left. The leaves stand in weights, heaviest first. */
static void
build_tree(struct h5twin_huffman_scratch *scratch, const uint64_t *weights, size_t leaf_count,
           uint64_t floor)
{
    size_t leaves_left = leaf_count;
    size_t first_node = 0; /* oldest internal node without a parent */
    for (size_t node = 0; node + 1 < leaf_count; node++) {
        uint64_t weight = 0;
        uint8_t leaf_children = 0;
        for (unsigned child = 0; child < 2; child++) {
            uint64_t leaf_weight = leaves_left == 0 ? UINT64_MAX : weights[leaves_left - 1];
            leaf_weight = leaf_weight > floor ? leaf_weight : floor;
            if (first_node == node || leaf_weight <= scratch->weight[first_node]) {
                weight += leaf_weight;
                leaves_left--;
                leaf_children++;
            } else {
                weight += scratch->weight[first_node];
                scratch->parent[first_node++] = (uint16_t)node;
            }
        }
        scratch->weight[node] = weight;
        scratch->leaf_children[node] = leaf_children;
    }
}

/* Make room for all leaves by lengthening short codes. */
static void
repair(uint32_t *length_counts, unsigned max_length)
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

void
h5twin_huffman_length_counts(uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS],
                             const uint64_t *weights, size_t leaf_count, unsigned max_length,
                             struct h5twin_huffman_scratch *scratch)
{
    memset(length_counts, 0, H5TWIN_HUFFMAN_LENGTHS * sizeof length_counts[0]);
    if (leaf_count == 1) {
        length_counts[0] = 1;
        return;
    }
    uint64_t sum = 0;
    for (size_t leaf = 0; leaf < leaf_count; leaf++) {
        sum += weights[leaf];
    }
    const uint64_t floor = sum >> max_length;
    build_tree(scratch, weights, leaf_count, floor == 0 ? 1 : floor);
    const size_t root = leaf_count - 2;
    for (size_t node = root + 1; node-- > 0;) {
        const unsigned depth = node == root ? 0 : scratch->depth[scratch->parent[node]] + 1u;
        scratch->depth[node] = (uint16_t)depth;
        length_counts[depth < max_length ? depth + 1 : max_length] += scratch->leaf_children[node];
    }
    repair(length_counts, max_length);
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
    uint32_t code = 0;
    for (unsigned length = 0; length < H5TWIN_HUFFMAN_LENGTHS; length++) {
        first_codes[length] = code;
        code = (code + length_counts[length]) << 1;
    }
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
