/* SPDX-License-Identifier: BSD-3-Clause
 * e2mc_header.c: the directory of segments; FORMAT.md 2. */
#include "../common/bytes.h"
#include "e2mc.h"

enum h5twin_status
h5twin_e2mc_next_segment(const struct h5twin_e2mc_header *parent, size_t index, const uint8_t *src,
                         size_t src_size, size_t *offset, struct h5twin_e2mc_header *header)
{
    const size_t size = h5twin_load32(src + H5TWIN_E2MC_HEADER_BYTES + 4 * index);
    const enum h5twin_status status =
        h5twin_e2mc_segment_header_read(header, parent, index, src, src_size, *offset, size);
    if (status == H5TWIN_OK) {
        *offset += size;
    }
    return status;
}
