/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references.h: blocks of 32 differences that are like those some distance before.
 * Source  FORMAT.md section 6. */
#ifndef H5TWIN_CASCADE_REFERENCES_H
#define H5TWIN_CASCADE_REFERENCES_H

#include "cascade_kernels.h"
#include "cascade_shape.h"

/* An entry is lag * 2 + sign; index i > 0 of a block means entry i - 1. */
struct h5twin_cascade_references {
    unsigned entry_count; /* 0: none */
    unsigned rounds;      /* chains are shorter than 2^rounds */
    uint32_t entry[CASCADE_MAX_LAGS];
    uint32_t *index; /* of each block */
};

static inline size_t
cascade_reference_blocks(size_t value_count)
{
    return value_count / CASCADE_REFERENCE_BLOCK + (value_count % CASCADE_REFERENCE_BLOCK != 0);
}

/* An upper bound of the length of any chain of references that ends in the block; depth holds those
 * of the blocks before. Index, lag and sources are known to be right. */
static inline uint32_t
cascade_block_depth(const struct h5twin_cascade_references *references, const uint32_t *depth,
                    size_t block, size_t value_count)
{
    const uint32_t index = references->index[block];
    if (index == 0) {
        return 0;
    }
    const size_t lag = references->entry[index - 1] >> 1;
    const size_t begin = block * CASCADE_REFERENCE_BLOCK;
    const size_t end = begin + CASCADE_REFERENCE_BLOCK < value_count
                           ? begin + CASCADE_REFERENCE_BLOCK
                           : value_count;
    const uint32_t first = depth[(begin - lag) / CASCADE_REFERENCE_BLOCK];
    const uint32_t last = depth[(end - 1 - lag) / CASCADE_REFERENCE_BLOCK];
    return 1 + (first > last ? first : last);
}

/* Whether a decoder may follow the references of a slab; mask may be NULL, depth has room for one
 * number per block. H5TWIN_ERR_MEMORY if the chains are such that each must be followed alone, and
 * there is no memory for that. */
enum h5twin_status
h5twin_cascade_references_check(const struct h5twin_cascade_references *references,
                                const uint8_t *mask, size_t value_count, uint32_t *depth);

/* Turn what was sent into differences, where it is. */
void h5twin_cascade_references_back(const struct h5twin_cascade_references *references,
                                    const struct h5twin_cascade_kernels *kernels, unsigned wide,
                                    void *lanes, const uint8_t *mask, size_t value_count);

/* ---- encode ---- */

/* Bytes of scratch for the next one, aligned as malloc does. */
size_t h5twin_cascade_references_scratch(size_t value_count, unsigned word_size);

/* Where references are looked for. */
struct h5twin_cascade_finding {
    const struct h5twin_cascade_kernels *kernels;
    unsigned word_size;
    const struct h5twin_cascade_shape *shape; /* of the slab, or of a part of it */
    const void *lanes;                        /* its differences */
    const uint8_t *mask;                      /* NULL: none */
    void *scratch;
    bool all;            /* whether each block tries all entries */
    uint64_t other_bits; /* what the slab takes beside its differences */
    unsigned least;      /* one of so many bits must be saved, entries too; 0: any */
    size_t slab_blocks;  /* of the whole slab, if this is a part; 0: as many as the list may have */
};

/* Find references in a slab's differences; entry_count is 0 if there are none that pay. Else rests
 * gets what is left of the differences, and index the entries of the blocks. Returns the bits that
 * the slab is then taken to have. */
uint64_t h5twin_cascade_references_find(struct h5twin_cascade_references *references,
                                        const struct h5twin_cascade_finding *finding,
                                        void *restrict rests);

/* rests once more, of references that were found in the same differences before. */
void h5twin_cascade_references_take_off(const struct h5twin_cascade_references *references,
                                        const struct h5twin_cascade_finding *finding,
                                        void *restrict rests);

/* What a sample of blocks says: bits of their differences, and what references would take off. */
struct h5twin_cascade_promise {
    size_t sampled; /* blocks */
    uint64_t bits, saved;
};

/* Try references on a sample of blocks; leaves none. */
struct h5twin_cascade_promise
h5twin_cascade_references_promise(struct h5twin_cascade_references *references,
                                  const struct h5twin_cascade_finding *finding);

#endif
