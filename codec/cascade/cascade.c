/* SPDX-License-Identifier: BSD-3-Clause
 * cascade.c: cascade as a codec: options, limits.
 *
 * The parameter word of the frame is 0: a payload says itself all that a decoder needs. */
#include "cascade.h"

#include "cascade_encode.h"
#include "cascade_kernels.h"

extern const struct h5twin_codec h5twin_cascade_codec;

H5TWIN_KERNELS_FOR(h5twin_cascade_kernels, H5TWIN_VARIANTS(h5twin_cascade_kernels))

static const char *const effort_names[] = {"fast", "balanced", "max", "quick", NULL};

static const struct h5twin_option_info options[] = {
    {
        .name = "effort",
        .values = "fast, quick, balanced or max",
        .help = "what the encoder takes its time for (balanced); all decode fast",
        .names = effort_names,
        .width_bits = 3,
        .default_value = CASCADE_BALANCED,
    },
};

enum cascade_effort
h5twin_cascade_effort_of(uint64_t effort_options)
{
    return (enum cascade_effort)h5twin_option_get(&h5twin_cascade_codec, effort_options, 0);
}

/* An array whose size is no multiple of its words is one of bytes. */
static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter = 0;
    if (job->raw_size % job->word_size != 0) {
        job->word_size = 1;
        job->rank = 0;
        job->kind = H5TWIN_OTHER;
    }
    return job->raw_size / job->word_size > CASCADE_MAX_VALUES ? H5TWIN_ERR_TOO_BIG : H5TWIN_OK;
}

const struct h5twin_codec h5twin_cascade_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(cascade, CASCADE),
            .summary = "cascade: lossless; differences along every axis, for floats and integers "
                       "of any size",
            H5TWIN_CODEC_OPTIONS(options),
        },
    .min_word_size = 1,
    .prepare = prepare,
    .bound = h5twin_cascade_bound,
    .encode = h5twin_cascade_encode,
    .decode = h5twin_cascade_decode,
    .decode_box = h5twin_cascade_decode_box,
    .raw_size = h5twin_cascade_raw_size,
    .describe = h5twin_cascade_describe,
};
