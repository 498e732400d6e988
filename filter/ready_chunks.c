/* SPDX-License-Identifier: BSD-3-Clause
 * ready_chunks.c: see ready_chunks.h. */
#include "ready_chunks.h"

#include <string.h>

static _Thread_local const struct h5twin_ready_chunks *offered;

void
h5twin_ready_chunks_offer(const struct h5twin_ready_chunks *chunks)
{
    offered = chunks;
}

const void *
h5twin_ready_chunks_take(enum h5twin_codec_id codec, size_t cd_count, const unsigned cd_values[],
                         const void *values, size_t value_size, size_t *size)
{
    if (offered == NULL || offered->codec != codec || offered->cd_count != cd_count ||
        offered->chunk_size != value_size ||
        memcmp(offered->cd_values, cd_values, cd_count * sizeof cd_values[0]) != 0) {
        return NULL;
    }
    return offered->take(offered->context, values, size);
}
