/* SPDX-License-Identifier: BSD-3-Clause
 * h5twin.c: the public calls: check, frame, dispatch to the codec. Device and threads are decided
 * here, once per call, and nowhere below. */
#include "h5twin.h"

#include "codec.h"
#include "common/bits.h"
#include "common/byte_order.h"
#include "common/ordered.h"
#include "common/parallel.h"
#include "device.h"
#include "frame_core.h"

#include <stdlib.h>
#include <string.h>

/* Summed, then copied: half a first-level cache. */
#define RAW_PIECE_BYTES (16u * 1024u)

const char *
h5twin_version(void)
{
    return H5TWIN_VERSION;
}

/* ---- from parameters to a job ---- */

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

unsigned
h5twin_codec_word_size(const struct h5twin_codec *codec, uint32_t element_size)
{
    for (unsigned word_size = 8; word_size >= codec->min_word_size; word_size /= 2) {
        if (element_size % word_size == 0) {
            return word_size;
        }
    }
    return 4;
}

/* dims in words. Left at rank 0 (one row) unless they give raw_size exactly. */
static void
set_dims(struct h5twin_job *job, const struct h5twin_params *params)
{
    const uint64_t words_per_element = params->element_size / job->word_size;
    if (params->rank == 0 || params->element_size % job->word_size != 0) {
        return;
    }
    uint64_t size = params->element_size; /* bytes */
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        if (size > job->raw_size / params->dims[axis]) {
            return;
        }
        size *= params->dims[axis];
    }
    if (size != job->raw_size) {
        return;
    }
    job->rank = params->rank;
    memcpy(job->dims, params->dims, params->rank * sizeof params->dims[0]);
    if (words_per_element > 1 && job->rank < H5TWIN_MAX_RANK) {
        job->dims[job->rank++] = words_per_element;
    } else {
        job->dims[job->rank - 1] *= words_per_element;
    }
}

/* What is not finite needs no care: it comes back exactly, and has no part in any range. */
static void
set_fill(struct h5twin_job *job, const struct h5twin_params *params)
{
    const uint64_t bits = h5twin_bits_of_double(params->fill);
    const uint64_t word = job->word_size == 4 ? h5twin_narrow_double_bits(bits) : bits;
    const uint64_t infinity =
        job->word_size == 4 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF0000000000000);
    job->zeros_are_padding = job->mode != H5TWIN_LOSSLESS && params->zeros_are_padding;
    if (job->mode != H5TWIN_LOSSLESS && params->has_fill && (word & infinity) != infinity) {
        job->has_fill = true;
        job->fill_bits = word;
    }
}

static enum h5twin_status
make_job(struct h5twin_job *job, const struct h5twin_codec **codec,
         const struct h5twin_params *params, size_t raw_size, bool is_bare)
{
    const enum h5twin_status status = h5twin_params_check(params);
    if (status != H5TWIN_OK) {
        return status;
    }
    *codec = h5twin_codec_find(params->codec);
    *job = (struct h5twin_job){
        .options = params->options,
        /* Exact storage meets any bound, and only whole floats can be quantized. */
        .mode = params->kind == H5TWIN_FLOAT && raw_size % params->element_size == 0
                    ? params->mode
                    : H5TWIN_LOSSLESS,
        .error_bound = params->error_bound,
        .kind = params->kind,
        .word_size = h5twin_codec_word_size(*codec, params->element_size),
        .raw_size = raw_size,
        .is_bare = is_bare,
        .extents = {1, 1, 1},
        .threads = 1,
        .isa = h5twin_isa_available(),
        .companion = h5twin_codec_find((*codec)->companion),
    };
    set_dims(job, params);
    set_fill(job, params);
    return (*codec)->prepare(job);
}

enum h5twin_status
h5twin_job_from_params(struct h5twin_job *job, const struct h5twin_codec **codec,
                       const struct h5twin_params *params, size_t raw_size)
{
    return make_job(job, codec, params, raw_size, false);
}

bool
h5twin_job_must_swap(const struct h5twin_job *job, const struct h5twin_params *params)
{
    return params->big_endian && params->kind != H5TWIN_OTHER &&
           params->element_size == job->word_size && job->word_size > 1;
}

/* ---- encode ---- */

/* Of the payload or of the raw array, whichever is larger; false if that is too big. */
static bool
largest_payload(const struct h5twin_params *params, size_t src_size, bool is_bare, size_t *largest)
{
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    if (make_job(&job, &codec, params, src_size, is_bare) != H5TWIN_OK) {
        return false;
    }
    const size_t bound = codec->bound(&job);
    *largest = bound > src_size ? bound : src_size;
    return (bound != 0 || src_size == 0) && *largest <= SIZE_MAX - H5TWIN_FRAME_BYTES_EXTENTS;
}

size_t
h5twin_bound(const struct h5twin_params *params, size_t src_size)
{
    size_t framed = 0, bare = 0;
    const bool has_framed = largest_payload(params, src_size, false, &framed);
    const bool has_bare = largest_payload(params, src_size, true, &bare);
    if (!has_framed && !has_bare) {
        return 0;
    }
    const size_t largest = has_framed && (!has_bare || framed > bare) ? framed : bare;
    return largest + H5TWIN_FRAME_BYTES_EXTENTS;
}

/* Check what all encoders check, and give the codec its little-endian words: src itself, or a copy
 * in *swapped that the caller frees. */
static enum h5twin_status
begin_encode(struct h5twin_job *job, const struct h5twin_codec **codec, bool is_bare,
             const struct h5twin_params *params, const struct h5twin_exec *exec, const void *dst,
             size_t dst_capacity, const void *src, size_t src_size, uint8_t **swapped,
             enum h5twin_device_choice *choice)
{
    *swapped = NULL;
    if (dst == NULL || (src == NULL && src_size != 0)) {
        return H5TWIN_ERR_ARG;
    }
    enum h5twin_status status = make_job(job, codec, params, src_size, is_bare);
    if (status == H5TWIN_OK) {
        status = h5twin_device_choose(exec, params->codec, src_size, false, choice);
    }
    if (status != H5TWIN_OK) {
        return status;
    }
    job->threads = choose_threads(exec, src_size);
    const size_t bound = h5twin_bound(params, src_size);
    if (bound == 0) {
        return H5TWIN_ERR_TOO_BIG;
    }
    if (dst_capacity < bound) {
        return H5TWIN_ERR_DST_SMALL;
    }
    if (h5twin_job_must_swap(job, params) && src_size != 0) {
        *swapped = malloc(src_size);
        if (*swapped == NULL) {
            return H5TWIN_ERR_MEMORY;
        }
        h5twin_swap_words(*swapped, src, src_size, job->word_size);
    }
    return H5TWIN_OK;
}

struct raw_copy {
    uint8_t *dst;
    size_t size; /* bytes */
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
    memcpy(copy->dst + piece * RAW_PIECE_BYTES, src, size);
    return H5TWIN_OK;
}

/* memcpy, and the CRC of the bytes while they are in a cache: a decoder with nothing to decode. */
static void
copy_raw(uint8_t *dst, const uint8_t *src, size_t size, unsigned threads,
         struct h5twin_crc32c_span *crc)
{
    const struct raw_copy copy = {.dst = dst, .size = size};
    const struct h5twin_ordered_decoder work = {
        .item_count = size / RAW_PIECE_BYTES + (size % RAW_PIECE_BYTES != 0),
        .decoded_size = size,
        .context = &copy,
        .stored_size = raw_piece_size,
        .decode = copy_raw_piece,
        .crc = crc,
    };
    crc->size = 0; /* whatever the codec has summed */
    h5twin_ordered_decode(&work, threads, src);
}

enum h5twin_status
h5twin_encode_payload(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
                      size_t dst_capacity, const void *src, size_t src_size, size_t *dst_size)
{
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    uint8_t *swapped;
    if (dst_size == NULL) {
        return H5TWIN_ERR_ARG;
    }
    enum h5twin_device_choice choice;
    enum h5twin_status status = begin_encode(&job, &codec, true, params, exec, dst, dst_capacity,
                                             src, src_size, &swapped, &choice);
    if (status == H5TWIN_OK) {
        size_t payload_size;
        status = h5twin_device_encode(choice, codec, &job, dst, swapped != NULL ? swapped : src,
                                      &payload_size);
        if (status == H5TWIN_OK) {
            *dst_size = payload_size;
        }
    }
    free(swapped);
    return status;
}

enum h5twin_status
h5twin_encode(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
              size_t dst_capacity, const void *src, size_t src_size, size_t *dst_size)
{
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    uint8_t *swapped;
    uint8_t *const chunk = dst;
    if (dst_size == NULL) {
        return H5TWIN_ERR_ARG;
    }
    enum h5twin_device_choice choice;
    enum h5twin_status status = begin_encode(&job, &codec, false, params, exec, dst, dst_capacity,
                                             src, src_size, &swapped, &choice);
    if (status != H5TWIN_OK) {
        free(swapped);
        return status;
    }
    struct h5twin_info info = {
        .codec = params->codec,
        .kind = params->kind,
        .word_size = job.word_size,
        .big_endian = h5twin_job_must_swap(&job, params),
        .raw_size = src_size,
        .frame_size = codec->has_extents ? H5TWIN_FRAME_BYTES_EXTENTS : H5TWIN_FRAME_BYTES,
        .extents = {1, 1, 1},
    };
    struct h5twin_crc32c_span crc = h5twin_crc32c_span_empty(job.isa);
    job.crc = &crc;
    size_t payload_size;
    status = h5twin_device_encode(choice, codec, &job, chunk + info.frame_size,
                                  swapped != NULL ? swapped : src, &payload_size);
    free(swapped);
    if (status != H5TWIN_OK) {
        return status;
    }
    info.parameter = job.parameter;
    memcpy(info.extents, job.extents, sizeof info.extents);
    if (h5twin_frame_is_raw(src_size, info.frame_size, payload_size)) {
        info.stored_raw = true;
        info.parameter = 0;
        info.frame_size = H5TWIN_FRAME_BYTES;
        payload_size = src_size;
        copy_raw(chunk + info.frame_size, src, src_size, job.threads, &crc);
    }
    h5twin_frame_write(chunk, &info, payload_size, &crc);
    *dst_size = info.frame_size + payload_size;
    return H5TWIN_OK;
}

/* ---- decode ---- */

static void
job_from_info(struct h5twin_job *job, const struct h5twin_info *info)
{
    *job = (struct h5twin_job){
        .kind = info->kind,
        .word_size = info->word_size,
        .raw_size = (size_t)info->raw_size,
        .parameter = info->parameter,
        .extents = {info->extents[0], info->extents[1], info->extents[2]},
        .threads = 1,
        .isa = h5twin_isa_available(),
        .companion = h5twin_codec_find(h5twin_codec_find(info->codec)->companion),
    };
}

/* The payload's own word on its size must be the frame's, before anyone allocates by it. */
static enum h5twin_status
check_raw_size(const struct h5twin_info *info, const uint8_t *src, size_t src_size)
{
    if (info->raw_size > SIZE_MAX / 2) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (info->stored_raw) {
        return H5TWIN_OK;
    }
    struct h5twin_job job;
    job_from_info(&job, info);
    uint64_t raw_size;
    const enum h5twin_status status =
        h5twin_codec_find(info->codec)
            ->raw_size(&job, src + info->frame_size, src_size - info->frame_size, &raw_size);
    if (status == H5TWIN_OK && raw_size != info->raw_size) {
        return H5TWIN_ERR_CORRUPT;
    }
    return status;
}

enum h5twin_status
h5twin_inspect(const void *src, size_t src_size, struct h5twin_info *info)
{
    if (src == NULL || info == NULL) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_info found;
    enum h5twin_status status = h5twin_frame_read(src, src_size, &found);
    if (status != H5TWIN_OK) {
        return status;
    }
    status = check_raw_size(&found, src, src_size);
    if (status == H5TWIN_ERR_CORRUPT && h5twin_frame_verify(src, src_size) != H5TWIN_OK) {
        return H5TWIN_ERR_CHECKSUM; /* the cause, of which the contradiction is the effect */
    }
    if (status == H5TWIN_OK) {
        *info = found;
    }
    return status;
}

/* Everything between frame and checksum; *crc may get the CRC of a part of the payload. */
static enum h5twin_status
decode_chunk(const struct h5twin_exec *exec, uint8_t *dst, size_t dst_capacity, const uint8_t *src,
             size_t src_size, const struct h5twin_info *info, struct h5twin_crc32c_span *crc)
{
    enum h5twin_device_choice choice;
    enum h5twin_status status = check_raw_size(info, src, src_size);
    if (status == H5TWIN_OK) {
        status = h5twin_device_choose(exec, info->codec, (size_t)info->raw_size, true, &choice);
    }
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
    if (info->stored_raw) {
        const size_t raw_size = (size_t)info->raw_size;
        copy_raw(dst, payload, raw_size, choose_threads(exec, raw_size), crc);
        return H5TWIN_OK;
    }
    struct h5twin_job job;
    job_from_info(&job, info);
    job.threads = choose_threads(exec, job.raw_size);
    job.crc = crc;
    status = h5twin_device_decode(choice, h5twin_codec_find(info->codec), &job, dst, payload,
                                  src_size - info->frame_size);
    if (status == H5TWIN_OK && info->big_endian) {
        h5twin_swap_words(dst, dst, job.raw_size, job.word_size);
    }
    return status;
}

/* The codec sums what it reads anyway, so the checksum is compared last. If it is wrong, that is
 * the cause of whatever else was found. */
enum h5twin_status
h5twin_decode(const struct h5twin_exec *exec, void *dst, size_t dst_capacity, const void *src,
              size_t src_size, size_t *dst_size)
{
    if (src == NULL || dst_size == NULL) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_info info;
    enum h5twin_status status = h5twin_frame_read(src, src_size, &info);
    if (status != H5TWIN_OK) {
        return status;
    }
    struct h5twin_crc32c_span crc = h5twin_crc32c_span_empty(h5twin_isa_available());
    status = decode_chunk(exec, dst, dst_capacity, src, src_size, &info, &crc);
    if (status != H5TWIN_OK) {
        crc.size = 0; /* what it covers may be anything */
    }
    if (h5twin_frame_verify_rest(src, src_size, info.frame_size, &crc) != H5TWIN_OK) {
        return H5TWIN_ERR_CHECKSUM;
    }
    if (status == H5TWIN_OK) {
        *dst_size = (size_t)info.raw_size;
    }
    return status;
}

enum h5twin_status
h5twin_decode_payload(const struct h5twin_params *params, const struct h5twin_exec *exec, void *dst,
                      size_t dst_size, const void *src, size_t src_size)
{
    if (src == NULL || (dst == NULL && dst_size != 0)) {
        return H5TWIN_ERR_ARG;
    }
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    enum h5twin_status status = make_job(&job, &codec, params, dst_size, true);
    if (status != H5TWIN_OK) {
        return status;
    }
    job.threads = choose_threads(exec, dst_size);
    if ((job.mode == H5TWIN_NOA || job.has_fill) && !codec->has_own_bound) {
        return H5TWIN_ERR_MODE;
    }
    enum h5twin_device_choice choice;
    status = h5twin_device_choose(exec, params->codec, dst_size, true, &choice);
    if (status != H5TWIN_OK) {
        return status;
    }
    status = h5twin_device_decode(choice, codec, &job, dst, src, src_size);
    if (status == H5TWIN_OK && h5twin_job_must_swap(&job, params)) {
        h5twin_swap_words(dst, dst, dst_size, job.word_size);
    }
    return status;
}

enum h5twin_status
h5twin_payload_raw_size(const struct h5twin_params *params, const void *src, size_t src_size,
                        uint64_t *raw_size)
{
    if (src == NULL || raw_size == NULL) {
        return H5TWIN_ERR_ARG;
    }
    uint64_t size = params == NULL ? 0 : params->element_size;
    for (uint32_t axis = 0; params != NULL && axis < params->rank && axis < H5TWIN_MAX_RANK;
         axis++) {
        if (params->dims[axis] != 0 && size > SIZE_MAX / params->dims[axis]) {
            return H5TWIN_ERR_TOO_BIG;
        }
        size *= params->dims[axis];
    }
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    const enum h5twin_status status = make_job(&job, &codec, params, (size_t)size, true);
    return status != H5TWIN_OK ? status : codec->raw_size(&job, src, src_size, raw_size);
}

size_t
h5twin_describe(const void *src, size_t src_size, char *text, size_t capacity)
{
    struct h5twin_info info;
    if (capacity > 0) {
        text[0] = '\0';
    }
    if (h5twin_inspect(src, src_size, &info) != H5TWIN_OK || info.stored_raw) {
        return 0;
    }
    const struct h5twin_codec *const codec = h5twin_codec_find(info.codec);
    if (codec->describe == NULL) {
        return 0;
    }
    struct h5twin_job job;
    job_from_info(&job, &info);
    return codec->describe(&job, (const uint8_t *)src + info.frame_size, src_size - info.frame_size,
                           text, capacity);
}
