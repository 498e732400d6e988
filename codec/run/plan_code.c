/* SPDX-License-Identifier: BSD-3-Clause
 * plan_code.c: see plan.h: plans are carried out. Device and threads are decided here, once per
 * call, and nowhere below. */
#include "plan.h"

#include "../common/byte_order.h"
#include "../common/ordered.h"
#include "../common/parallel.h"
#include "../frame_core.h"
#include "device.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Summed, then copied: half a first-level cache. */
#define RAW_PIECE_BYTES (16u * 1024u)

static unsigned
choose_threads(const struct h5twin_exec *exec, size_t raw_size)
{
    const size_t useful = raw_size / H5TWIN_BYTES_PER_THREAD;
    if (useful <= 1) {
        return 1;
    }
    const size_t wanted =
        exec != NULL && exec->threads != 0 ? exec->threads : h5twin_threads_available();
    const size_t threads = wanted < useful ? wanted : useful;
    return threads > H5TWIN_MAX_THREADS ? H5TWIN_MAX_THREADS : (unsigned)threads;
}

/* ---- raw payloads ---- */

struct raw_copy {
    uint8_t *dst;
    size_t size;                       /* bytes */
    const struct h5twin_box_runs *box; /* instead of dst; or NULL */
};

static size_t
raw_piece_size(const void *context, size_t piece)
{
    const struct raw_copy *const copy = context;
    const size_t left = copy->size - piece * RAW_PIECE_BYTES;
    return left < RAW_PIECE_BYTES ? left : RAW_PIECE_BYTES;
}

static enum h5twin_status
copy_raw_piece(const void *context, size_t piece, const uint8_t *src, size_t size)
{
    const struct raw_copy *const copy = context;
    if (copy->box != NULL) {
        h5twin_box_put(copy->box, piece * RAW_PIECE_BYTES, src, size);
    } else {
        memcpy(copy->dst + piece * RAW_PIECE_BYTES, src, size);
    }
    return H5TWIN_OK;
}

static void
copy_raw_pieces(const struct raw_copy *copy, const uint8_t *src, unsigned threads,
                struct h5twin_crc32c_span *crc)
{
    const size_t size = copy->size;
    const struct h5twin_ordered_decoder work = {
        .item_count = size / RAW_PIECE_BYTES + (size % RAW_PIECE_BYTES != 0),
        .decoded_size = size,
        .context = copy,
        .stored_size = raw_piece_size,
        .decode = copy_raw_piece,
        .crc = crc,
    };
    crc->size = 0; /* whatever the codec has summed */
    h5twin_ordered_decode(&work, threads, src);
}

/* memcpy, and the CRC of the bytes while they are in a cache: a decoder with nothing to decode. */
static void
copy_raw(uint8_t *dst, const uint8_t *src, size_t size, unsigned threads,
         struct h5twin_crc32c_span *crc)
{
    const struct raw_copy copy = {.dst = dst, .size = size};
    copy_raw_pieces(&copy, src, threads, crc);
}

/* The same of a box. */
static void
put_raw(const struct h5twin_box_runs *box, const uint8_t *src, unsigned threads,
        struct h5twin_crc32c_span *crc)
{
    const struct raw_copy copy = {.size = box->array_size, .box = box};
    copy_raw_pieces(&copy, src, threads, crc);
}

/* ---- encode ---- */

/* Check what all encoders check, and choose the device. */
static enum h5twin_status
begin_encode(const struct h5twin_plan *plan, const struct h5twin_exec *exec, const void *dst,
             size_t dst_capacity, const void *src, enum h5twin_device_choice *choice)
{
    const size_t raw_size = plan->job.raw_size;
    if (dst == NULL || (src == NULL && raw_size != 0)) {
        return H5TWIN_ERR_ARG;
    }
    const enum h5twin_status status =
        h5twin_device_choose(exec, plan->info.codec, raw_size, false, choice);
    if (status != H5TWIN_OK) {
        return status;
    }
    return plan->bound == 0             ? H5TWIN_ERR_TOO_BIG
           : dst_capacity < plan->bound ? H5TWIN_ERR_DST_SMALL
                                        : H5TWIN_OK;
}

/* The codec sees little-endian words: src itself, or a copy. */
static enum h5twin_status
encode_payload(const struct h5twin_plan *plan, enum h5twin_device_choice choice,
               struct h5twin_job *job, uint8_t *dst, const uint8_t *src, size_t *payload_size)
{
    if (!plan->info.big_endian || job->raw_size == 0) {
        return h5twin_device_encode(choice, plan->codec, job, dst, src, payload_size);
    }
    uint8_t *const swapped = malloc(job->raw_size);
    if (swapped == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    h5twin_swap_words(swapped, src, job->raw_size, job->word_size);
    const enum h5twin_status status =
        h5twin_device_encode(choice, plan->codec, job, dst, swapped, payload_size);
    free(swapped);
    return status;
}

/* The frame before the payload, which becomes the array itself if it is no smaller; returns the
 * chunk's size. */
static size_t
finish_chunk(const struct h5twin_plan *plan, const struct h5twin_job *job, uint8_t *chunk,
             const uint8_t *src, size_t payload_size)
{
    struct h5twin_info info = plan->info;
    info.parameter = job->parameter;
    memcpy(info.extents, job->extents, sizeof info.extents);
    if (h5twin_frame_is_raw(job->raw_size, info.frame_size, payload_size)) {
        info.stored_raw = true;
        info.parameter = 0;
        info.frame_size = H5TWIN_FRAME_BYTES;
        payload_size = job->raw_size;
        copy_raw(chunk + info.frame_size, src, payload_size, job->threads, job->crc);
    }
    h5twin_frame_write(chunk, &info, payload_size, job->crc);
    return info.frame_size + payload_size;
}

enum h5twin_status
h5twin_plan_encode(const struct h5twin_plan *plan, const struct h5twin_exec *exec, void *dst,
                   size_t dst_capacity, const void *src, size_t *dst_size)
{
    enum h5twin_device_choice choice;
    enum h5twin_status status = begin_encode(plan, exec, dst, dst_capacity, src, &choice);
    if (status != H5TWIN_OK) {
        return status;
    }
    uint8_t *const chunk = dst;
    struct h5twin_job job = plan->job;
    struct h5twin_crc32c_span crc = h5twin_crc32c_span_empty(job.isa);
    job.threads = choose_threads(exec, job.raw_size);
    job.crc = job.is_bare ? NULL : &crc;
    size_t payload_size;
    status = encode_payload(plan, choice, &job, chunk + plan->info.frame_size, src, &payload_size);
    if (status == H5TWIN_OK) {
        *dst_size = job.is_bare ? payload_size : finish_chunk(plan, &job, chunk, src, payload_size);
    }
    return status;
}

/* ---- decode ---- */

/* Check what all decoders check, and choose the device. */
static enum h5twin_status
begin_decode(const struct h5twin_plan *plan, const struct h5twin_exec *exec, const uint8_t *src,
             size_t src_size, enum h5twin_device_choice *choice)
{
    const struct h5twin_info *const info = &plan->info;
    const enum h5twin_status status = h5twin_plan_payload_agrees(plan, src, src_size);
    return status != H5TWIN_OK
               ? status
               : h5twin_device_choose(exec, info->codec, (size_t)info->raw_size, true, choice);
}

/* All but the checksum; *crc may get the CRC of a part of the payload. */
static enum h5twin_status
decode_chunk(const struct h5twin_plan *plan, const struct h5twin_exec *exec, uint8_t *dst,
             size_t dst_capacity, const uint8_t *src, size_t src_size,
             struct h5twin_crc32c_span *crc)
{
    const struct h5twin_info *const info = &plan->info;
    enum h5twin_device_choice choice;
    enum h5twin_status status = begin_decode(plan, exec, src, src_size, &choice);
    if (status != H5TWIN_OK) {
        return status;
    }
    if (dst_capacity < info->raw_size) {
        return H5TWIN_ERR_DST_SMALL;
    }
    if (info->raw_size == 0) {
        return H5TWIN_OK;
    }
    if (dst == NULL) {
        return H5TWIN_ERR_ARG;
    }
    const uint8_t *const payload = src + info->frame_size;
    struct h5twin_job job = plan->job;
    job.threads = choose_threads(exec, job.raw_size);
    job.crc = crc;
    if (info->stored_raw) {
        copy_raw(dst, payload, job.raw_size, job.threads, crc);
        return H5TWIN_OK;
    }
    status =
        h5twin_device_decode(choice, plan->codec, &job, dst, payload, src_size - info->frame_size);
    if (status == H5TWIN_OK && info->big_endian) {
        h5twin_swap_words(dst, dst, job.raw_size, job.word_size);
    }
    return status;
}

/* The codec sums what it reads anyway, so the checksum is compared last. If it is wrong, that is
 * the cause of whatever else was found. */
static enum h5twin_status
end_decode(const struct h5twin_plan *plan, enum h5twin_status status, const uint8_t *src,
           size_t src_size, struct h5twin_crc32c_span *crc)
{
    if (status != H5TWIN_OK) {
        crc->size = 0; /* what it covers may be anything */
    }
    return h5twin_frame_verify_rest(src, src_size, plan->info.frame_size, crc) == H5TWIN_OK
               ? status
               : H5TWIN_ERR_CHECKSUM;
}

enum h5twin_status
h5twin_plan_decode(const struct h5twin_plan *plan, const struct h5twin_exec *exec, void *dst,
                   size_t dst_capacity, const uint8_t *src, size_t src_size, size_t *dst_size)
{
    struct h5twin_crc32c_span crc = h5twin_crc32c_span_empty(plan->job.isa);
    const enum h5twin_status status =
        end_decode(plan, decode_chunk(plan, exec, dst, dst_capacity, src, src_size, &crc), src,
                   src_size, &crc);
    if (status == H5TWIN_OK) {
        *dst_size = (size_t)plan->info.raw_size;
    }
    return status;
}

/* All but the checksum, which codecs sum as for decode_chunk. */
static enum h5twin_status
decode_box(const struct h5twin_plan *plan, const struct h5twin_exec *exec, void *dst,
           const struct h5twin_box *box, const uint8_t *src, size_t src_size,
           struct h5twin_crc32c_span *crc, atomic_size_t *decoded)
{
    const struct h5twin_info *const info = &plan->info;
    enum h5twin_device_choice choice;
    struct h5twin_box_runs runs;
    enum h5twin_status status = begin_decode(plan, exec, src, src_size, &choice);
    if (status == H5TWIN_OK) {
        const bool must_turn = info->big_endian && !info->stored_raw;
        status = h5twin_box_open(&runs, box, dst, (size_t)info->raw_size,
                                 must_turn ? info->word_size : 0);
    }
    if (status != H5TWIN_OK || runs.is_empty) {
        return status;
    }
    runs.decoded = decoded;
    const uint8_t *const payload = src + info->frame_size;
    struct h5twin_job job = plan->job;
    job.threads = choose_threads(exec, job.raw_size);
    job.crc = crc;
    if (info->stored_raw) {
        put_raw(&runs, payload, job.threads, crc);
        return H5TWIN_OK;
    }
    return h5twin_device_decode_box(choice, plan->codec, &job, &runs, payload,
                                    src_size - info->frame_size);
}

enum h5twin_status
h5twin_plan_decode_box(const struct h5twin_plan *plan, const struct h5twin_exec *exec, void *dst,
                       const struct h5twin_box *box, const uint8_t *src, size_t src_size,
                       size_t *decoded)
{
    struct h5twin_crc32c_span crc = h5twin_crc32c_span_empty(plan->job.isa);
    atomic_size_t bytes;
    atomic_init(&bytes, 0);
    const enum h5twin_status status = decode_box(plan, exec, dst, box, src, src_size, &crc, &bytes);
    if (decoded != NULL) {
        *decoded = atomic_load(&bytes);
    }
    return end_decode(plan, status, src, src_size, &crc);
}

enum h5twin_status
h5twin_plan_decode_payload(const struct h5twin_plan *plan, const struct h5twin_exec *exec,
                           void *dst, const void *src, size_t src_size)
{
    struct h5twin_job job = plan->job;
    job.threads = choose_threads(exec, job.raw_size);
    if ((job.mode == H5TWIN_NOA || job.has_fill) && !plan->codec->has_own_bound) {
        return H5TWIN_ERR_MODE;
    }
    enum h5twin_device_choice choice;
    enum h5twin_status status =
        h5twin_device_choose(exec, plan->info.codec, job.raw_size, true, &choice);
    if (status != H5TWIN_OK) {
        return status;
    }
    status = h5twin_device_decode(choice, plan->codec, &job, dst, src, src_size);
    if (status == H5TWIN_OK && plan->info.big_endian) {
        h5twin_swap_words(dst, dst, job.raw_size, job.word_size);
    }
    return status;
}
