/* SPDX-License-Identifier: BSD-3-Clause
 * toy.c: the smallest codec, see FORMAT.md. Shows, and tests, what a new codec needs. */
#include "codec.h"
#include "toy_runs.h"

#include <string.h>

#define LONGEST_RUN 255u

H5TWIN_KERNELS_FOR(h5twin_toy_kernels, H5TWIN_VARIANTS(h5twin_toy_kernels))

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter = 0;
    return H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    const size_t words = job->raw_size / job->word_size;
    return words > SIZE_MAX - job->raw_size ? 0 : job->raw_size + words;
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *dst, const uint8_t *src, size_t *dst_size)
{
    const size_t size = job->word_size, words = job->raw_size / size;
    const struct h5twin_toy_kernels *const kernels = h5twin_toy_kernels_for(job->isa);
    uint8_t *out = dst;
    for (size_t i = 0; i < words;) {
        const size_t left = words - i;
        const size_t count =
            kernels->run(src + i * size, left < LONGEST_RUN ? left : LONGEST_RUN, size);
        *out++ = (uint8_t)count;
        memcpy(out, src + i * size, size);
        out += size;
        i += count;
    }
    const size_t rest = job->raw_size % size;
    if (rest != 0) {
        memcpy(out, src + words * size, rest);
    }
    *dst_size = (size_t)(out - dst) + rest;
    return H5TWIN_OK;
}

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *dst, const uint8_t *src, size_t src_size)
{
    const size_t size = job->word_size;
    size_t left = job->raw_size / size, at = 0;
    const size_t rest = job->raw_size % size;
    if (job->parameter != 0) {
        return H5TWIN_ERR_CORRUPT;
    }
    while (left > 0) {
        if (src_size - at < 1 + size) {
            return H5TWIN_ERR_SRC_SHORT;
        }
        const size_t count = src[at];
        if (count == 0 || count > left) {
            return H5TWIN_ERR_CORRUPT;
        }
        for (size_t i = 0; i < count; i++, dst += size) {
            memcpy(dst, src + at + 1, size);
        }
        at += 1 + size;
        left -= count;
    }
    if (src_size - at != rest) {
        return src_size - at < rest ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
    }
    if (rest != 0) {
        memcpy(dst, src + at, rest);
    }
    return H5TWIN_OK;
}

static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    const size_t run_size = 1 + (size_t)job->word_size;
    *size = 0;
    for (size_t at = 0; at < src_size; at += run_size) {
        if (src_size - at < run_size) {
            *size += src_size - at;
            break;
        }
        *size += (uint64_t)src[at] * job->word_size;
    }
    return H5TWIN_OK;
}

const struct h5twin_codec h5twin_toy_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(toy, TOY),
            .summary = "run lengths, for tests",
        },
    .min_word_size = 1,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .raw_size = raw_size,
};
