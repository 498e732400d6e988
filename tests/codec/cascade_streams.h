/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_streams.h: payloads of cascade written field by field, for tests of its decoder. */
#ifndef H5TWIN_TESTS_CASCADE_STREAMS_H
#define H5TWIN_TESTS_CASCADE_STREAMS_H

#include "common/bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct stream {
    uint8_t bytes[4096];
    size_t size;
};

static inline void
put_number(struct stream *stream, uint64_t number, unsigned size)
{
    for (unsigned i = 0; i < size; i++) {
        stream->bytes[stream->size++] = (uint8_t)(number >> (8 * i));
    }
}

static inline void
put_bytes(struct stream *stream, const void *bytes, size_t size)
{
    memcpy(stream->bytes + stream->size, bytes, size);
    stream->size += size;
}

/* A section of a residual stream. */
static inline void
put_section(struct stream *stream, const void *residuals, size_t size)
{
    put_number(stream, size, 4);
    put_bytes(stream, residuals, size);
    put_number(stream, 0, size % 2);
}

/* Up to 256 words of at most 8 bits as a section: packed, every group with a width of 8. */
static inline void
put_words(struct stream *stream, const uint8_t *words, size_t count)
{
    uint8_t residuals[3 + 16 + 256] = {4, 1};
    const size_t groups = (count + 15) / 16;
    memset(residuals + 2, 8, groups);
    memcpy(residuals + 18, words, count);
    put_section(stream, residuals, 18 + 16 * groups);
}

#endif
