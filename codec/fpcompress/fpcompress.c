/* SPDX-License-Identifier: BSD-3-Clause
 * fpcompress.c: FPcompress on the CPU: SPspeed and SPratio for 4-byte words, DPspeed and DPratio
 * for 8-byte words.
 *
 * Parameter word of the frame: the mode in bits 0..7 (1 speed, 2 ratio), other bits 0.
 * Source  Azami, Fallin, Burtscher (ASPLOS 2025); FORMAT.md. */
#include "fpcompress.h"
#include "../codec.h"
#include "../common/kept_memory.h"
#include "fpcompress_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {"speed", "ratio", NULL};

static const struct h5twin_option_info options[] = {
    {
        .name = "mode",
        .values = "speed|ratio",
        .help = "bit packing, or fewer bytes at half the speed (default: ratio)",
        .names = mode_names,
        .width_bits = 2,
        .default_value = H5TWIN_FPC_RATIO - 1,
    },
};

extern const struct h5twin_codec h5twin_fpcompress_codec;

static bool
is_dpratio(const struct h5twin_job *job)
{
    return h5twin_fpc_is_dpratio(job->parameter, job->word_size);
}

static const struct h5twin_block_codec *
choose_blocks(const struct h5twin_job *job, const struct h5twin_fpcompress_kernels *kernels)
{
    if (job->word_size == 4) {
        return job->parameter == H5TWIN_FPC_SPEED ? kernels->spspeed : &h5twin_spratio_blocks;
    }
    return job->parameter == H5TWIN_FPC_SPEED ? kernels->dpspeed : &h5twin_dpratio_blocks;
}

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter = 1 + h5twin_option_get(&h5twin_fpcompress_codec, job->options, 0);
    if (job->word_size == 8 && job->raw_size % 8 != 0) {
        job->parameter = H5TWIN_FPC_SPEED; /* DPratio has no place for part of a word */
    }
    return h5twin_fpc_is_too_big(job->parameter, job->word_size, job->raw_size) ? H5TWIN_ERR_TOO_BIG
                                                                                : H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    if (is_dpratio(job) && job->raw_size > SIZE_MAX / 2) {
        return 0;
    }
    return h5twin_blocks_bound(choose_blocks(job, &h5twin_fpcompress_kernels_scalar),
                               is_dpratio(job) ? 2 * job->raw_size : job->raw_size);
}

static enum h5twin_status
encode_dpratio(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
               size_t *dst_size)
{
    struct h5twin_dpratio array = {.stages = h5twin_fpcompress_kernels_for(job->isa)->ratio_stages,
                                   .src = src,
                                   .value_count = job->raw_size / 8};
    const size_t distances_size = array.value_count * sizeof array.distances[0];
    array.distances = h5twin_kept_take("fpcompress distances", distances_size);
    if (array.distances == NULL) {
        return H5TWIN_ERR_MEMORY;
    }
    memset(array.distances, 0, distances_size);
    const enum h5twin_status status =
        h5twin_fcm_match(array.distances, src, array.value_count, job->threads);
    if (status == H5TWIN_OK) {
        *dst_size = h5twin_blocks_encode(&h5twin_dpratio_blocks, &array, job->threads, dst, NULL,
                                         2 * job->raw_size, job->crc);
    }
    h5twin_kept_give_back(array.distances, distances_size);
    return status;
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    if (is_dpratio(job)) {
        return encode_dpratio(job, dst, src, dst_size);
    }
    const struct h5twin_fpcompress_kernels *const kernels = h5twin_fpcompress_kernels_for(job->isa);
    *dst_size = h5twin_blocks_encode(choose_blocks(job, kernels), kernels->ratio_stages,
                                     job->threads, dst, src, job->raw_size, job->crc);
    return H5TWIN_OK;
}

static enum h5twin_status
decode_dpratio(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
               size_t src_size)
{
    struct h5twin_dpratio array = {.stages = h5twin_fpcompress_kernels_for(job->isa)->ratio_stages,
                                   .dst = dst,
                                   .value_count = job->raw_size / 8,
                                   .src_end = src + src_size};
    enum h5twin_status status = H5TWIN_ERR_MEMORY;
    const size_t distances_size = array.value_count * sizeof array.distances[0];
    array.distances = h5twin_kept_take("fpcompress distances", distances_size);
    array.is_present = calloc(h5twin_dpratio_block_count(array.value_count) + 1, 1);
    if (array.distances != NULL && array.is_present != NULL) {
        status = h5twin_blocks_decode(&h5twin_dpratio_blocks, &array, job->threads, NULL,
                                      2 * job->raw_size, src, src_size, job->crc);
    }
    if (status == H5TWIN_OK) {
        h5twin_dpratio_restore(&array);
    }
    h5twin_kept_give_back(array.distances, distances_size);
    free(array.is_present);
    return status;
}

/* A distance may lead to any word before: all of the array is decoded. */
static enum h5twin_status
decode_dpratio_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
                   const uint8_t *src, size_t src_size)
{
    uint8_t *const array = h5twin_box_all_begin(box);
    const enum h5twin_status status =
        array == NULL ? H5TWIN_ERR_MEMORY : decode_dpratio(job, array, src, src_size);
    h5twin_box_all_end(box, array, status == H5TWIN_OK);
    return status;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    if (!h5twin_fpc_parameter_is_valid(job->parameter, job->word_size, job->raw_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (is_dpratio(job)) {
        return decode_dpratio(job, dst, src, src_size);
    }
    const struct h5twin_fpcompress_kernels *const kernels = h5twin_fpcompress_kernels_for(job->isa);
    return h5twin_blocks_decode(choose_blocks(job, kernels), kernels->ratio_stages, job->threads,
                                dst, job->raw_size, src, src_size, job->crc);
}

static enum h5twin_status
decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
           const uint8_t *restrict src, size_t src_size)
{
    if (!h5twin_fpc_parameter_is_valid(job->parameter, job->word_size, job->raw_size)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (is_dpratio(job)) {
        return decode_dpratio_box(job, box, src, src_size);
    }
    const struct h5twin_fpcompress_kernels *const kernels = h5twin_fpcompress_kernels_for(job->isa);
    return h5twin_blocks_decode_box(choose_blocks(job, kernels), kernels->ratio_stages,
                                    job->threads, box, src, src_size, job->crc);
}

static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    uint64_t coded_size;
    if (job->word_size != 4 && job->word_size != 8) {
        return H5TWIN_ERR_CORRUPT;
    }
    const enum h5twin_status status = h5twin_blocks_raw_size(
        choose_blocks(job, &h5twin_fpcompress_kernels_scalar), src, src_size, &coded_size);
    if (status != H5TWIN_OK) {
        return status;
    }
    /* DPratio codes twice its input; a bare stream of a size that it cannot have is DPspeed's. */
    if (is_dpratio(job) && coded_size % 8 == 0) {
        if (coded_size % 16 != 0) {
            return H5TWIN_ERR_CORRUPT;
        }
        coded_size /= 2;
    }
    *size = coded_size;
    return H5TWIN_OK;
}

static size_t
describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
         size_t capacity)
{
    (void)src;
    (void)src_size;
    return (size_t)snprintf(text, capacity, "lossless, %s%s", job->word_size == 4 ? "SP" : "DP",
                            job->parameter == H5TWIN_FPC_SPEED ? "speed" : "ratio");
}

const struct h5twin_fpcompress_kernels h5twin_fpcompress_kernels_scalar = {
    .spspeed = &h5twin_spspeed_blocks_scalar,
    .dpspeed = &h5twin_dpspeed_blocks_scalar,
    .ratio_stages = &h5twin_ratio_kernels_scalar,
};

const struct h5twin_codec h5twin_fpcompress_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(fpcompress, FPCOMPRESS),
            .summary = "FPcompress: lossless; mode=speed packs bits of differences, mode=ratio "
                       "(default) also finds repeats",
            H5TWIN_CODEC_OPTIONS(options),
        },
    .min_word_size = 4,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .decode_box = decode_box,
    .raw_size = raw_size,
    .describe = describe,
};

H5TWIN_KERNELS_FOR(h5twin_fpcompress_kernels, H5TWIN_OWN_VARIANTS(h5twin_fpcompress_kernels))
