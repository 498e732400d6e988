/* SPDX-License-Identifier: BSD-3-Clause
 * gfc.c: GFC as a codec: options, limits, sizes.
 *
 * Parameter word of the frame: the dimensionality, 1..32, in bits 0..7; the rest is 0.
 * Source  O'Neil and Burtscher (GPGPU-4, 2011) and the program GFC 2.2; FORMAT.md. */
#include "gfc.h"

#include "gfc_core.h"

extern const struct h5twin_codec h5twin_gfc_codec;

/* Rows of 2..32 words are taken as interleaved components. Axes of extent 1 do not count. */
static unsigned
dimensionality_of_shape(const struct h5twin_job *job)
{
    uint64_t innermost = 1;
    for (unsigned axis = job->rank; axis-- > 0;) {
        if (job->dims[axis] == 1) {
            continue;
        }
        if (innermost != 1) {
            return (unsigned)innermost;
        }
        if (job->dims[axis] > GFC_MAX_DIMENSIONALITY) {
            return 1;
        }
        innermost = job->dims[axis];
    }
    return 1;
}

static const struct h5twin_option_info options[] = {
    {
        .name = "dimensionality",
        .values = "1..32 or auto",
        .help = "components that take turns along the fastest axis (auto: that axis' extent if it "
                "is 2..32, else 1)",
        .width_bits = 6,
        .minimum = 1,
        .maximum = GFC_MAX_DIMENSIONALITY,
    },
};

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    if (job->raw_size / job->word_size > GFC_MAX_VALUES) {
        return H5TWIN_ERR_TOO_BIG;
    }
    const unsigned wanted = h5twin_option_get(&h5twin_gfc_codec, job->options, 0);
    job->parameter = wanted != 0 ? wanted : dimensionality_of_shape(job);
    return H5TWIN_OK;
}

static size_t
bound(const struct h5twin_job *job)
{
    unsigned blocks, warps;
    const size_t value_count = job->raw_size / job->word_size;
    h5twin_gfc_choose_split(value_count, &blocks, &warps);
    const size_t subchunk_count = h5twin_gfc_padded_count(value_count) / GFC_LANES;
    const size_t overhead = GFC_HEADER_BYTES + GFC_TABLE_ENTRY * (size_t)blocks * warps +
                            job->raw_size % job->word_size;
    if (subchunk_count > (SIZE_MAX - overhead) / GFC_SUBCHUNK_BOUND(job->word_size)) {
        return 0;
    }
    return overhead + subchunk_count * GFC_SUBCHUNK_BOUND(job->word_size);
}

const struct h5twin_codec h5twin_gfc_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(gfc, GFC),
            .summary = "GFC: lossless; for doubles, and for interleaved components",
            H5TWIN_CODEC_OPTIONS(options),
        },
    .min_word_size = 4,
    .prepare = prepare,
    .bound = bound,
    .encode = h5twin_gfc_encode,
    .decode = h5twin_gfc_decode,
    .decode_box = h5twin_gfc_decode_box,
    .raw_size = h5twin_gfc_raw_size,
    .describe = h5twin_gfc_describe,
};
