/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_book_core.h: the fields of one tree in a codebook, for C and CUDA; FORMAT.md 3. Every field
 * is checked before it is used. */
#ifndef H5TWIN_E2MC_BOOK_CORE_H
#define H5TWIN_E2MC_BOOK_CORE_H

#include "bit_stream_msb.h"
#include "e2mc_core.h"
#include "huffman_core.h"

#define H5TWIN_E2MC_BATCH            64u /* listed symbols */
#define H5TWIN_E2MC_BATCH_SIZE_BITS  13u
#define H5TWIN_E2MC_BATCH_ENTRY_BITS (5u + H5TWIN_E2MC_BATCH_SIZE_BITS) /* in the directory */

struct h5twin_e2mc_book_fields {
    bool has_escape;
    unsigned max_length; /* bits */
    unsigned escape_length, raw_bits, raw_shift;
    uint32_t listed_count;
    uint32_t length_counts[H5TWIN_HUFFMAN_LENGTHS]; /* listed symbols */
};

H5TWIN_HD uint32_t
h5twin_e2mc_batch_count(uint32_t listed_count)
{
    return (listed_count + H5TWIN_E2MC_BATCH - 1) / H5TWIN_E2MC_BATCH;
}

/* Read what stands before a tree's directory. False if it cannot be. */
H5TWIN_HD bool
h5twin_e2mc_book_fields_read(struct h5twin_e2mc_book_fields *fields, unsigned symbol_bits,
                             struct h5twin_bit_reader_msb *reader)
{
    memset(fields, 0, sizeof *fields);
    fields->has_escape = h5twin_bit_get_msb(reader, 1) != 0;
    fields->max_length = (unsigned)h5twin_bit_get_msb(reader, 5);
    if (fields->max_length > H5TWIN_HUFFMAN_MAX_LENGTH) {
        return false;
    }
    if (fields->has_escape) {
        fields->escape_length = (unsigned)h5twin_bit_get_msb(reader, 5);
        fields->raw_bits = (unsigned)h5twin_bit_get_msb(reader, 6);
        fields->raw_shift = (unsigned)h5twin_bit_get_msb(reader, 5);
        if (fields->escape_length > fields->max_length ||
            (fields->escape_length == 0) != (fields->max_length == 0) ||
            fields->raw_bits + fields->raw_shift > symbol_bits) {
            return false;
        }
    }
    if (fields->max_length == 0) {
        fields->listed_count = fields->has_escape ? 0 : 1;
        fields->length_counts[0] = fields->listed_count;
        return h5twin_bit_reader_is_inside_msb(reader);
    }
    for (unsigned length = 1; length <= fields->max_length; length++) {
        uint64_t count;
        if (!h5twin_exp_golomb_get(reader, 0, &count) ||
            count > H5TWIN_E2MC_MAX_LISTED - fields->listed_count) {
            return false;
        }
        fields->length_counts[length] = (uint32_t)count;
        fields->listed_count += (uint32_t)count;
    }
    return h5twin_bit_reader_is_inside_msb(reader);
}

#endif
