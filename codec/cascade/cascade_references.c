/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_references.c: see cascade_references.h. */
#include "cascade_references.h"

#include <stdlib.h>

/* The steps of every value's own chain. */
static enum h5twin_status
check_steps(const struct h5twin_cascade_references *references, const uint8_t *mask,
            size_t value_count)
{
    uint32_t *const steps = malloc(value_count * sizeof *steps);
    enum h5twin_status status = H5TWIN_OK;
    if (steps == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    for (size_t i = 0; i < value_count && status == H5TWIN_OK; i++) {
        const uint32_t index = references->index[i / CASCADE_REFERENCE_BLOCK];
        steps[i] = 0;
        if (index != 0 && (mask == NULL || !mask[i])) {
            steps[i] = 1 + steps[i - (references->entry[index - 1] >> 1)];
            status = steps[i] >> references->rounds != 0 ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
        }
    }
    free(steps);
    return status;
}

enum h5twin_status
h5twin_cascade_references_check(const struct h5twin_cascade_references *references,
                                const uint8_t *mask, size_t value_count, uint32_t *depth)
{
    const size_t block_count = cascade_reference_blocks(value_count);
    bool is_deep = false;
    for (unsigned i = 0; i < references->entry_count; i++) {
        if (references->entry[i] >> 1 < CASCADE_REFERENCE_BLOCK) {
            return H5TWIN_ERR_CORRUPT;
        }
    }
    for (size_t block = 0; block < block_count; block++) {
        const uint32_t index = references->index[block];
        if (index > references->entry_count ||
            (index != 0 && references->entry[index - 1] >> 1 > block * CASCADE_REFERENCE_BLOCK)) {
            return H5TWIN_ERR_CORRUPT;
        }
        depth[block] = cascade_block_depth(references, depth, block, value_count);
        is_deep |= depth[block] >> references->rounds != 0;
    }
    return is_deep ? check_steps(references, mask, value_count) : H5TWIN_OK;
}

void
h5twin_cascade_references_back(const struct h5twin_cascade_references *references,
                               const struct h5twin_cascade_kernels *kernels, unsigned wide,
                               void *lanes, const uint8_t *mask, size_t value_count)
{
    const size_t block_count = cascade_reference_blocks(value_count);
    for (size_t block = 0; block < block_count; block++) {
        const uint32_t index = references->index[block];
        if (index != 0) {
            const uint32_t entry = references->entry[index - 1];
            const size_t begin = block * CASCADE_REFERENCE_BLOCK;
            const size_t left = value_count - begin;
            kernels->add_reference[wide]((uint8_t *)lanes + begin * (wide ? 8 : 4), entry >> 1,
                                         entry & 1, mask == NULL ? NULL : mask + begin,
                                         left < CASCADE_REFERENCE_BLOCK ? left
                                                                        : CASCADE_REFERENCE_BLOCK);
        }
    }
}
