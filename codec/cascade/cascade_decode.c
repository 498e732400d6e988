/* SPDX-License-Identifier: BSD-3-Clause
 * cascade_decode.c: decode the slabs of a payload, side by side; say what is in one.
 * Source  FORMAT.md sections 1 and 8. */
#include "cascade.h"

#include "../common/bytes.h"
#include "../common/ordered.h"
#include "../common/scratch_pool.h"

#include <pthread.h>

struct payload_decoder {
    const struct h5twin_cascade_header *header;
    h5twin_isa isa;
    unsigned word_size;
    unsigned slab_threads; /* of each slab */
    pthread_t caller;
    uint8_t *dst;
    const struct h5twin_box_runs *box; /* instead of dst; or NULL */
    struct h5twin_scratch_pool *pool;  /* for a box: room for a slab */
};

static size_t
slab_size(const void *context, size_t slab)
{
    const struct payload_decoder *const decoder = context;
    return h5twin_load32(decoder->header->directory + 4 * slab);
}

/* The first byte of a slab in the array; that of one more slab than there are is the end. */
static size_t
slab_at(const struct payload_decoder *decoder, size_t slab)
{
    const struct h5twin_cascade_shape *const array = &decoder->header->shape;
    return (size_t)h5twin_cascade_slab_begin(array->extent[0], slab, decoder->header->slab_count) *
           cascade_stride(array, 0) * decoder->word_size;
}

static enum h5twin_status
decode_slab_to(const struct payload_decoder *decoder, size_t slab, uint8_t *dst, const uint8_t *src,
               size_t src_size)
{
    const struct h5twin_cascade_shape *const array = &decoder->header->shape;
    const size_t slab_count = decoder->header->slab_count;
    const size_t begin = (size_t)h5twin_cascade_slab_begin(array->extent[0], slab, slab_count);
    const size_t end = (size_t)h5twin_cascade_slab_begin(array->extent[0], slab + 1, slab_count);
    const struct h5twin_cascade_shape shape = h5twin_cascade_shape_of_slab(array, begin, end);
    return h5twin_cascade_slab_decode(
        &shape, decoder->header->version, decoder->word_size, decoder->isa, decoder->slab_threads,
        pthread_equal(pthread_self(), decoder->caller) != 0, dst, src, src_size);
}

static enum h5twin_status
decode_slab(const void *context, size_t slab, const uint8_t *src, size_t src_size)
{
    const struct payload_decoder *const decoder = context;
    return decode_slab_to(decoder, slab, decoder->dst + slab_at(decoder, slab), src, src_size);
}

static enum h5twin_status
decode_slab_of_box(const void *context, size_t slab, const uint8_t *src, size_t src_size)
{
    const struct payload_decoder *const decoder = context;
    const struct h5twin_box_runs *const box = decoder->box;
    const size_t begin = slab_at(decoder, slab), size = slab_at(decoder, slab + 1) - begin;
    if (!h5twin_box_needs(box, begin, size)) {
        return H5TWIN_OK;
    }
    uint8_t *const direct = h5twin_box_direct(box, begin, size);
    if (direct != NULL) {
        const enum h5twin_status status = decode_slab_to(decoder, slab, direct, src, src_size);
        h5twin_box_turn(box, direct, size);
        return status;
    }
    uint8_t *const made = h5twin_scratch_pool_take(decoder->pool);
    const enum h5twin_status status = decode_slab_to(decoder, slab, made, src, src_size);
    if (status == H5TWIN_OK) {
        h5twin_box_turn_and_put(box, begin, made, size);
    }
    h5twin_scratch_pool_give_back(decoder->pool, made);
    return status;
}

/* Slabs that the box needs, at most `most`: each is given the threads that are left. */
static size_t
count_needed(const struct payload_decoder *decoder, size_t most)
{
    size_t count = 0;
    for (size_t slab = 0; slab < decoder->header->slab_count && count < most; slab++) {
        const size_t begin = slab_at(decoder, slab);
        count += h5twin_box_needs(decoder->box, begin, slab_at(decoder, slab + 1) - begin);
    }
    return count;
}

/* By this decoder, which has a dst or a box. */
static enum h5twin_status
decode_payload(const struct h5twin_job *job, struct payload_decoder *decoder, const uint8_t *src,
               size_t src_size)
{
    struct h5twin_cascade_header header;
    enum h5twin_status status = h5twin_cascade_header_read(&header, job->word_size, src, src_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (job->parameter != 0 || cascade_count(&header.shape) != job->raw_size / job->word_size ||
        job->raw_size % job->word_size != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    decoder->header = &header;
    decoder->isa = job->isa;
    decoder->word_size = job->word_size;
    decoder->caller = pthread_self();
    const bool is_box = decoder->box != NULL;
    const size_t busy = is_box ? count_needed(decoder, job->threads) : header.slab_count;
    decoder->slab_threads = busy < job->threads ? job->threads : 1;
    const struct h5twin_ordered_decoder work = {
        .item_count = header.slab_count,
        .decoded_size = job->raw_size,
        .context = decoder,
        .stored_size = slab_size,
        .decode = is_box ? decode_slab_of_box : decode_slab,
        .crc = job->crc,
        .crc_begin = (size_t)(header.bodies - src),
    };
    struct h5twin_scratch_pool pool;
    if (is_box) {
        const size_t most = (header.shape.extent[0] + header.slab_count - 1) / header.slab_count;
        decoder->pool = &pool;
        status =
            h5twin_scratch_pool_init(&pool, busy == 0 ? 1 : busy,
                                     most * cascade_stride(&header.shape, 0) * decoder->word_size);
    }
    if (status == H5TWIN_OK) {
        /* One slab alone is decoded by all threads: none is left for sums of the others. */
        const unsigned threads = is_box && busy == 1 ? 1 : job->threads;
        status = h5twin_ordered_decode(&work, threads, header.bodies);
        if (is_box) {
            h5twin_scratch_pool_destroy(&pool);
        }
    }
    return status;
}

enum h5twin_status
h5twin_cascade_decode(const struct h5twin_job *job, uint8_t *restrict dst,
                      const uint8_t *restrict src, size_t src_size)
{
    struct payload_decoder decoder = {.dst = dst};
    return decode_payload(job, &decoder, src, src_size);
}

enum h5twin_status
h5twin_cascade_decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
                          const uint8_t *restrict src, size_t src_size)
{
    struct payload_decoder decoder = {.box = box};
    return decode_payload(job, &decoder, src, src_size);
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
