/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_header.c: check and read what comes before the values: of a payload and of a slab.
 * Source  FORMAT.md sections 1, 2 and 8. */
#include "cascade.h"

static enum h5twin_status
check_directory(const struct h5twin_cascade_header *header, size_t available)
{
    for (size_t slab = 0; slab < header->slab_count; slab++) {
        const size_t size = h5twin_load32(header->directory + 4 * slab);
        if (size > available) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        available -= size;
    }
    return available == 0 ? H5TWIN_OK : H5TWIN_ERR_CORRUPT;
}

enum h5twin_status
h5twin_cascade_header_read(struct h5twin_cascade_header *header, unsigned word_size,
                           const uint8_t *src, size_t src_size)
{
    const enum h5twin_status status = cascade_header_get(header, word_size, src, src_size);
    return status == H5TWIN_OK && header->slab_count != 0
               ? check_directory(header, src_size - (size_t)(header->bodies - src))
               : status;
}

enum h5twin_status
h5twin_cascade_slab_read(struct h5twin_cascade_slab *slab, const struct h5twin_cascade_shape *shape,
                         unsigned version, unsigned word_size, const uint8_t *src, size_t src_size,
                         size_t *head_size)
{
    return cascade_slab_get(slab, shape, version, word_size, src, src_size, head_size);
}
