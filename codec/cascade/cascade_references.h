/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references.h: blocks of 32 differences that are like earlier ones: some distance before,
 * or mirrored. Source  FORMAT.md section 6. */
#ifndef H5TWIN_CASCADE_REFERENCES_H
#define H5TWIN_CASCADE_REFERENCES_H

#include "cascade_gate_core.h"
#include "cascade_kernels.h"
#include "cascade_shape.h"

/* Entries are those of cascade_entry_core.h; index i > 0 of a block means entry i - 1. */
struct h5twin_cascade_references {
    unsigned entry_count; /* 0: none */
    unsigned rounds;      /* chains are shorter than 2^rounds */
    uint32_t entry[CASCADE_MAX_LAGS];
    uint32_t *index;   /* of each block */
    bool pays_clearly; /* of those just found */
};

static inline size_t
cascade_reference_blocks(size_t value_count)
{
    return value_count / CASCADE_REFERENCE_BLOCK + (value_count % CASCADE_REFERENCE_BLOCK != 0);
}

/* The end of a block of a slab of so many values. */
static inline size_t
cascade_block_end(size_t block, size_t value_count)
{
    const size_t end = (block + 1) * CASCADE_REFERENCE_BLOCK;
    return end < value_count ? end : value_count;
}

/* An upper bound of the length of any chain of references that ends in the block; depth holds those
 * of the blocks before. Index and entries are known to be right. */
uint32_t h5twin_cascade_block_depth(const struct h5twin_cascade_references *references,
                                    const struct h5twin_cascade_shape *shape, const uint32_t *depth,
                                    size_t block, size_t value_count);

/* Whether a decoder may follow the references of a slab of a payload of this version; mask may be
 * NULL, depth has room for one number per block. H5TWIN_ERR_MEMORY if the chains are such that each
 * must be followed alone, and there is no memory for that. */
enum h5twin_status
h5twin_cascade_references_check(const struct h5twin_cascade_references *references,
                                const struct h5twin_cascade_shape *shape, unsigned version,
                                const uint8_t *mask, uint32_t *depth);

/* Turn what was sent into differences, where it is. */
void h5twin_cascade_references_back(const struct h5twin_cascade_references *references,
                                    const struct h5twin_cascade_shape *shape,
                                    const struct h5twin_cascade_kernels *kernels, unsigned wide,
                                    void *lanes, const uint8_t *mask);

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
    bool flips_only;     /* no shifts */
    unsigned flip_count;
    uint32_t flips[CASCADE_MOST_FLIPS]; /* entries that each block tries */
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
