/* SPDX-License-Identifier: BSD-3-Clause
 * plan.c: see plan.h: plans are made. */
#include "plan.h"

#include "../common/bits.h"
#include "../common/environment.h"
#include "../frame_core.h"

#include <string.h>

/* ---- from parameters to a job ---- */

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
add_fill(struct h5twin_job *job, double fill)
{
    const uint64_t bits = h5twin_bits_of_double(fill);
    const uint64_t word = job->word_size == 4 ? h5twin_narrow_double_bits(bits) : bits;
    const uint64_t infinity =
        job->word_size == 4 ? UINT64_C(0x7F800000) : UINT64_C(0x7FF0000000000000);
    if ((word & infinity) == infinity || (job->has_fill && word == job->fill_bits)) {
        return;
    }
    job->has_second_fill = job->has_fill;
    *(job->has_fill ? &job->second_fill_bits : &job->fill_bits) = word;
    job->has_fill = true;
}

static void
set_fills(struct h5twin_job *job, const struct h5twin_params *params)
{
    if (job->mode == H5TWIN_LOSSLESS) {
        return;
    }
    job->zeros_are_padding = params->zeros_are_padding;
    if (params->has_fill) {
        add_fill(job, params->fill);
    }
    if (params->has_declared_fill) {
        add_fill(job, params->declared_fill);
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
    struct h5twin_environment environment; /* shapes are chosen by estimates, fills are rounded */
    h5twin_environment_hold(&environment);
    set_fills(job, params);
    const enum h5twin_status prepared = (*codec)->prepare(job);
    h5twin_environment_release(&environment);
    return prepared;
}

enum h5twin_status
h5twin_job_from_params(struct h5twin_job *job, const struct h5twin_codec **codec,
                       const struct h5twin_params *params, size_t raw_size)
{
    return make_job(job, codec, params, raw_size, false);
}

bool
h5twin_must_swap(const struct h5twin_params *params, unsigned word_size)
{
    return params->big_endian && params->kind != H5TWIN_OTHER &&
           params->element_size == word_size && word_size > 1;
}

/* ---- plans ---- */

/* Room for the payload, or for the raw array if that is larger, and a frame; 0 if that is too big.
 */
static size_t
bound_of(const struct h5twin_codec *codec, const struct h5twin_job *job)
{
    const size_t bound = codec->bound(job);
    const size_t largest = bound > job->raw_size ? bound : job->raw_size;
    const bool is_valid = bound != 0 || job->raw_size == 0;
    return is_valid && largest <= SIZE_MAX - H5TWIN_FRAME_BYTES_EXTENTS
               ? largest + H5TWIN_FRAME_BYTES_EXTENTS
               : 0;
}

enum h5twin_status
h5twin_plan_for_params(struct h5twin_plan *plan, const struct h5twin_params *params,
                       size_t raw_size, bool is_bare)
{
    const enum h5twin_status status = make_job(&plan->job, &plan->codec, params, raw_size, is_bare);
    if (status != H5TWIN_OK) {
        return status;
    }
    plan->info = (struct h5twin_info){
        .codec = params->codec,
        .kind = params->kind,
        .word_size = plan->job.word_size,
        .big_endian = h5twin_must_swap(params, plan->job.word_size),
        .raw_size = raw_size,
        .frame_size = is_bare                    ? 0
                      : plan->codec->has_extents ? H5TWIN_FRAME_BYTES_EXTENTS
                                                 : H5TWIN_FRAME_BYTES,
        .extents = {1, 1, 1},
    };
    plan->bound = bound_of(plan->codec, &plan->job);
    plan->size_is_checked = true;
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_plan_for_chunk(struct h5twin_plan *plan, const uint8_t *src, size_t src_size)
{
    const enum h5twin_status status = h5twin_frame_read(src, src_size, &plan->info);
    if (status != H5TWIN_OK) {
        return status;
    }
    const struct h5twin_info *const info = &plan->info;
    plan->codec = h5twin_codec_find(info->codec);
    plan->bound = 0;
    plan->size_is_checked = false;
    plan->job = (struct h5twin_job){
        .kind = info->kind,
        .word_size = info->word_size,
        .raw_size = (size_t)info->raw_size,
        .parameter = info->parameter,
        .extents = {info->extents[0], info->extents[1], info->extents[2]},
        .threads = 1,
        .isa = h5twin_isa_available(),
        .companion = h5twin_codec_find(plan->codec->companion),
    };
    return H5TWIN_OK;
}

enum h5twin_status
h5twin_plan_payload_agrees(const struct h5twin_plan *plan, const uint8_t *src, size_t src_size)
{
    const struct h5twin_info *const info = &plan->info;
    if (info->raw_size > SIZE_MAX / 2) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (info->stored_raw || plan->size_is_checked) {
        return H5TWIN_OK;
    }
    if (h5twin_frame_is_raw(info->raw_size, info->frame_size, src_size - info->frame_size)) {
        return H5TWIN_ERR_CORRUPT; /* it would have been stored raw */
    }
    uint64_t raw_size;
    const enum h5twin_status status = plan->codec->raw_size(&plan->job, src + info->frame_size,
                                                            src_size - info->frame_size, &raw_size);
    return status == H5TWIN_OK && raw_size != info->raw_size ? H5TWIN_ERR_CORRUPT : status;
}

enum h5twin_status
h5twin_plan_check_size(struct h5twin_plan *plan, const uint8_t *src, size_t src_size)
{
    const enum h5twin_status status = h5twin_plan_payload_agrees(plan, src, src_size);
    plan->size_is_checked = status == H5TWIN_OK;
    if (status == H5TWIN_ERR_CORRUPT && h5twin_frame_verify(src, src_size) != H5TWIN_OK) {
        return H5TWIN_ERR_CHECKSUM; /* the cause, of which the contradiction is the effect */
    }
    return status;
}
