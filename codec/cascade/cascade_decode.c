/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_decode.c: decode the slabs of a payload, side by side; say what is in one.
 * Source  FORMAT.md sections 1 and 9. */
#include "cascade.h"

#include "../common/bytes.h"
#include "../common/ordered.h"

#include <pthread.h>

struct payload_decoder {
    const struct h5twin_cascade_header *header;
    h5twin_isa isa;
    unsigned word_size;
    unsigned slab_threads; /* of each slab */
    pthread_t caller;
    uint8_t *dst;
};

static size_t
slab_size(const void *context, size_t slab)
{
    const struct payload_decoder *const decoder = context;
    return h5twin_load32(decoder->header->directory + 4 * slab);
}

static enum h5twin_status
decode_slab(const void *context, size_t slab, const uint8_t *src, size_t src_size)
{
    const struct payload_decoder *const decoder = context;
    const struct h5twin_cascade_shape *const array = &decoder->header->shape;
    const size_t slab_count = decoder->header->slab_count;
    const size_t begin = (size_t)h5twin_cascade_slab_begin(array->extent[0], slab, slab_count);
    const size_t end = (size_t)h5twin_cascade_slab_begin(array->extent[0], slab + 1, slab_count);
    const struct h5twin_cascade_shape shape = h5twin_cascade_shape_of_slab(array, begin, end);
    return h5twin_cascade_slab_decode(
        &shape, decoder->word_size, decoder->isa, decoder->slab_threads,
        pthread_equal(pthread_self(), decoder->caller) != 0,
        decoder->dst + begin * cascade_stride(array, 0) * decoder->word_size, src, src_size);
}

enum h5twin_status
h5twin_cascade_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                      const uint8_t *restrict src, size_t src_size)
{
    struct h5twin_cascade_header header;
    const enum h5twin_status status =
        h5twin_cascade_header_read(&header, job->word_size, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (job->parameter != 0 || cascade_count(&header.shape) != job->raw_size / job->word_size ||
        job->raw_size % job->word_size != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    const struct payload_decoder decoder = {
        .header = &header,
        .isa = job->isa,
        .word_size = job->word_size,
        .slab_threads = header.slab_count < job->threads ? job->threads : 1,
        .caller = pthread_self(),
        .dst = dst,
    };
    const struct h5twin_ordered_decoder work = {
        .item_count = header.slab_count,
        .decoded_size = job->raw_size,
        .context = &decoder,
        .stored_size = slab_size,
        .decode = decode_slab,
        .crc = job->crc,
        .crc_begin = (size_t)(header.bodies - src),
    };
    return h5twin_ordered_decode(&work, job->threads, header.bodies);
}

enum h5twin_status
h5twin_cascade_raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size,
                        uint64_t *size)
{
    struct h5twin_cascade_header header;
    const enum h5twin_status status =
        h5twin_cascade_header_read(&header, job->word_size, src, src_size);
    if (status == H5TWIN_OK) {
        *size = (uint64_t)cascade_count(&header.shape) * job->word_size;
    }
    return status;
}
