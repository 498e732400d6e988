/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references.c: see cascade_references.h. */
#include "cascade_references.h"

#include <stdlib.h>

#define BLOCK CASCADE_REFERENCE_BLOCK

/* ---- depth of chains ---- */

uint32_t
h5twin_cascade_block_depth(const struct h5twin_cascade_references *references,
                           const struct h5twin_cascade_shape *shape, const uint32_t *depth,
                           size_t block, size_t value_count)
{
    const uint32_t index = references->index[block];
    if (index == 0) {
        return 0;
    }
    const struct cascade_source source = cascade_source_of(references->entry[index - 1], shape);
    const uint32_t end = (uint32_t)cascade_block_end(block, value_count);
    uint32_t most = 0;
    struct cascade_source_run run = {.begin = (uint32_t)(block * BLOCK)};
    do {
        run = cascade_next_run(&source, run.begin + run.count, end);
        if (run.count != 0) {
            const uint32_t last =
                run.is_mirrored ? run.source - run.count + 1 : run.source + run.count - 1;
            const size_t blocks[2] = {run.source / BLOCK, last / BLOCK};
            for (unsigned i = 0; i < 2; i++) { /* a source in its own block has none itself */
                const uint32_t own = blocks[i] == block ? 0 : depth[blocks[i]];
                most = own > most ? own : most;
            }
        }
    } while (run.count != 0);
    return 1 + most;
}

/* The steps of every value's own chain. */
static enum h5twin_status
check_steps(const struct h5twin_cascade_references *references,
            const struct h5twin_cascade_shape *shape, const uint8_t *mask)
{
    const size_t value_count = cascade_count(shape);
    uint32_t *const steps = malloc(value_count * sizeof *steps);
    enum h5twin_status status = H5TWIN_OK;
    if (steps == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    for (size_t begin = 0; begin < value_count && status == H5TWIN_OK; begin += BLOCK) {
        const size_t end = cascade_block_end(begin / BLOCK, value_count);
        const uint32_t index = references->index[begin / BLOCK];
        struct cascade_source source = {0};
        if (index != 0) {
            source = cascade_source_of(references->entry[index - 1], shape);
        }
        for (size_t i = begin; i < end; i++) {
            const bool refers = index != 0 && (mask == NULL || !mask[i]);
            const uint32_t from =
                refers ? cascade_source_at(&source, (uint32_t)i) : CASCADE_NO_SOURCE;
            steps[i] = from == CASCADE_NO_SOURCE ? 0 : 1 + steps[from];
            status = steps[i] >> references->rounds != 0 ? H5TWIN_ERR_CORRUPT : status;
        }
    }
    free(steps);
    return status;
}

enum h5twin_status
h5twin_cascade_references_check(const struct h5twin_cascade_references *references,
                                const struct h5twin_cascade_shape *shape, unsigned version,
                                const uint8_t *mask, uint32_t *depth)
{
    const size_t value_count = cascade_count(shape);
    const size_t block_count = cascade_reference_blocks(value_count);
    bool is_deep = false;
    for (unsigned i = 0; i < references->entry_count; i++) {
        if (!cascade_is_good_entry(references->entry[i], shape, version, BLOCK)) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    for (size_t block = 0; block < block_count; block++) {
        const uint32_t index = references->index[block];
        if (index > references->entry_count ||
            (index != 0 && !cascade_entry_reaches(block, references->entry[index - 1]))) {
            return H5TWIN_ERR_CORRUPT;
        }
        depth[block] = h5twin_cascade_block_depth(references, shape, depth, block, value_count);
        is_deep |= depth[block] >> references->rounds != 0;
    }
    return is_deep ? check_steps(references, shape, mask) : H5TWIN_OK;
}

/* ---- back ---- */

void
h5twin_cascade_references_back(const struct h5twin_cascade_references *references,
                               const struct h5twin_cascade_shape *shape,
                               const struct h5twin_cascade_kernels *kernels, unsigned wide,
                               void *lanes, const uint8_t *mask)
{
    const size_t value_count = cascade_count(shape);
    const size_t block_count = cascade_reference_blocks(value_count);
    for (size_t block = 0; block < block_count; block++) {
        const uint32_t index = references->index[block];
        if (index == 0) {
            continue;
        }
        const uint32_t entry = references->entry[index - 1];
        const struct cascade_source source = cascade_source_of(entry, shape);
        const uint32_t end = (uint32_t)cascade_block_end(block, value_count);
        struct cascade_source_run run = cascade_next_run(&source, (uint32_t)(block * BLOCK), end);
        while (run.count != 0) {
            uint8_t *const first = (uint8_t *)lanes + (size_t)run.begin * (wide ? 8 : 4);
            const uint8_t *const masked = mask == NULL ? NULL : mask + run.begin;
            (run.is_mirrored ? kernels->add_mirrored : kernels->add_reference)[wide](
                first, run.begin - run.source, entry & 1, masked, run.count);
            run = cascade_next_run(&source, run.begin + run.count, end);
        }
    }
}
