/* SPDX-License-Identifier: BSD-3-Clause
 * lattice.c: the codec lattice: floats within a proven error bound; anything else by its companion.
 *
 * Frame parameter: the number of values, 0 if the array is no whole number of them. A payload says
 * itself how it is coded. Source  FORMAT.md. */
#include "lattice.h"

#include "lattice_job.h"
#include "lattice_loops.h"

#include <float.h>
#include <math.h>
#include <string.h>

extern const struct h5twin_codec h5twin_lattice_codec;

H5TWIN_KERNELS_FOR(h5twin_lattice_kernels, H5TWIN_VARIANTS(h5twin_lattice_kernels))

/* ---- options ---- */

enum field { EFFORT, STABLE, LOWER, UPPER, FIELD_COUNT };

static const char *const effort_names[] = {
    [LATTICE_FAST] = "fast", [LATTICE_BALANCED] = "balanced", [LATTICE_MAX] = "max", NULL};
static const char *const stable_names[] = {
    [LATTICE_STABLE_NO] = "no", [LATTICE_STABLE_YES] = "yes", [LATTICE_STABLE_AUTO] = "auto", NULL};

static const struct h5twin_option_info options[] = {
    [EFFORT] = {.name = "effort",
                .values = "fast|balanced|max",
                .help = "how much to try for a smaller chunk (balanced)",
                .names = effort_names,
                .shift = 0,
                .width_bits = 2,
                .default_value = LATTICE_BALANCED},
    [STABLE] = {.name = "stable",
                .values = "no|yes|auto",
                .help = "yes: the bound holds however often a chunk is written in parts; auto: so "
                        "it does unless it is range-relative; no: smaller chunks (auto)",
                .names = stable_names,
                .shift = 2,
                .width_bits = 2,
                .default_value = LATTICE_STABLE_AUTO},
    [LOWER] = {.name = "min",
               .values = "number of at most 6 digits",
               .help = "no value from this limit on decodes below it (no limit)",
               .shift = 4,
               .width_bits = 28,
               .is_decimal = true},
    [UPPER] = {.name = "max",
               .values = "number of at most 6 digits",
               .help = "no value up to this limit decodes above it (no limit)",
               .shift = 32,
               .width_bits = 28,
               .is_decimal = true},
};

/* Limits in the wrong order leave no values between them. */
static enum h5twin_status
check_options(uint64_t field, unsigned word_size, uint32_t *index)
{
    (void)word_size;
    *index = UPPER;
    /* NaN is none, and must raise no exception in the caller's environment. */
    return isgreater(h5twin_option_decimal(&options[LOWER], field),
                     h5twin_option_decimal(&options[UPPER], field))
               ? H5TWIN_ERR_OPTION
               : H5TWIN_OK;
}

static uint32_t
value_count(const struct h5twin_job *job)
{
    return h5twin_lattice_value_count(job->raw_size, job->word_size);
}

/* ---- encode ---- */

static enum h5twin_status
prepare(struct h5twin_job *job)
{
    job->parameter = value_count(job);
    return job->raw_size > SIZE_MAX / 2 ? H5TWIN_ERR_TOO_BIG : H5TWIN_OK; /* as for decoders */
}

static size_t
bound(const struct h5twin_job *job)
{
    size_t largest = job->raw_size;
    if (job->companion != NULL) {
        const struct h5twin_job other = h5twin_lattice_companion_job(job);
        const size_t size = job->companion->bound(&other);
        largest = size > largest ? size : largest;
    }
    return largest == SIZE_MAX ? 0 : largest + 1;
}

/* Without loss. Leaves what is in dst if that is no larger. */
static enum h5twin_status
encode_by_companion(const struct h5twin_job *job, uint8_t *dst, const uint8_t *src,
                    size_t *dst_size)
{
    struct h5twin_job other = h5twin_lattice_companion_job(job);
    size_t size = 0;
    enum h5twin_status status = job->companion->prepare(&other);
    if (status == H5TWIN_OK) {
        status = job->companion->encode(&other, dst + 1, src, &size);
    }
    if (status != H5TWIN_OK) {
        return status == H5TWIN_ERR_TOO_BIG ? H5TWIN_OK : status;
    }
    dst[0] = LATTICE_COMPANION;
    if (size >= job->raw_size) {
        dst[0] = LATTICE_VERBATIM;
        memcpy(dst + 1, src, job->raw_size);
        size = job->raw_size;
    }
    *dst_size = 1 + size;
    return H5TWIN_OK;
}

/* A limit as a number of the element type, 0 or a normal one, that is not beyond it: what lies
 * between the two is beyond both, and so exact. */
static double
limit_within(double limit, bool upper, unsigned word_size)
{
    const double least = word_size == 4 ? (double)FLT_MIN : DBL_MIN;
    const double most = word_size == 4 ? (double)FLT_MAX : DBL_MAX;
    const double inwards = upper ? -HUGE_VAL : HUGE_VAL;
    if (limit > most || limit < -most) {
        return limit > 0 ? most : -most;
    }
    double rounded = limit;
    if (word_size == 4) {
        float narrow = (float)limit;
        if (upper ? (double)narrow > limit : (double)narrow < limit) {
            narrow = nextafterf(narrow, (float)inwards);
        }
        rounded = (double)narrow;
    }
    if (rounded < least && rounded > -least) {
        rounded = rounded == 0 || (rounded > 0) == upper ? 0 : upper ? -least : least;
    }
    return rounded;
}

static void
set_limit(struct lattice_settings *settings, const struct h5twin_job *job, bool upper)
{
    const double limit = h5twin_option_decimal(&options[upper ? UPPER : LOWER], job->options);
    settings->has_limit[upper] = !isnan(limit);
    settings->limit[upper] = isnan(limit) ? 0 : limit_within(limit, upper, job->word_size);
}

void
h5twin_lattice_settings(struct lattice_settings *settings, const struct h5twin_job *job)
{
    *settings = (struct lattice_settings){
        .mode = job->mode,
        .bound = job->error_bound,
        .word_size = job->word_size,
        .effort =
            (enum lattice_effort)h5twin_option_get(&h5twin_lattice_codec, job->options, EFFORT),
        .stable =
            (enum lattice_stable)h5twin_option_get(&h5twin_lattice_codec, job->options, STABLE),
        .has_fill = job->has_fill,
        .fill = job->fill_bits,
        .has_second_fill = job->has_second_fill,
        .second_fill = job->second_fill_bits,
        .zeros_are_padding = job->zeros_are_padding,
        .threads = job->threads,
    };
    set_limit(settings, job, false);
    set_limit(settings, job, true);
}

static enum h5twin_status
encode(struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src, size_t *dst_size)
{
    struct lattice_settings settings;
    h5twin_lattice_settings(&settings, job);
    struct lattice_shape shape;
    enum h5twin_status status = H5TWIN_OK;
    dst[0] = LATTICE_VERBATIM;
    if (value_count(job) > 0 && job->word_size >= 4) {
        h5twin_lattice_shape(&shape, job->dims, job->rank, value_count(job));
        status = h5twin_lattice_encode(&settings, job->isa, dst, src, &shape, dst_size);
    } else {
        if (job->raw_size > 0) {
            memcpy(dst + 1, src, job->raw_size);
        }
        *dst_size = 1 + job->raw_size;
    }
    if (status == H5TWIN_OK && dst[0] == LATTICE_VERBATIM && job->companion != NULL &&
        job->raw_size > 0) {
        status = encode_by_companion(job, dst, src, dst_size);
    }
    return status;
}

/* ---- decode ---- */

static enum h5twin_status
decode(const struct h5twin_job *job, uint8_t *restrict dst, const uint8_t *restrict src,
       size_t src_size)
{
    if (job->parameter != value_count(job)) {
        return H5TWIN_ERR_CORRUPT;
    }
    if (src_size > 0 && src[0] == LATTICE_COMPANION) {
        const struct h5twin_job other = h5twin_lattice_companion_job(job);
        return job->companion == NULL ? H5TWIN_ERR_VERSION
                                      : job->companion->decode(&other, dst, src + 1, src_size - 1);
    }
    if (src_size > 0 && src[0] == LATTICE_VERBATIM) {
        if (src_size - 1 != job->raw_size) {
            return src_size - 1 < job->raw_size ? H5TWIN_ERR_SRC_SHORT : H5TWIN_ERR_CORRUPT;
        }
        memcpy(dst, src + 1, job->raw_size);
        return H5TWIN_OK;
    }
    return h5twin_lattice_decode(job->isa, job->threads, job->word_size, dst, job->parameter, src,
                                 src_size);
}

/* Coded values depend on each other all over the array: those are decoded as a whole. */
static enum h5twin_status
decode_box(const struct h5twin_job *job, const struct h5twin_box_runs *box,
           const uint8_t *restrict src, size_t src_size)
{
    if (job->parameter == value_count(job) && src_size > 0 && src[0] == LATTICE_COMPANION &&
        job->companion != NULL && job->companion->decode_box != NULL) {
        const struct h5twin_job other = h5twin_lattice_companion_job(job);
        return job->companion->decode_box(&other, box, src + 1, src_size - 1);
    }
    uint8_t *const array = h5twin_box_all_begin(box);
    const enum h5twin_status status =
        array == NULL ? H5TWIN_ERR_MEMORY : decode(job, array, src, src_size);
    h5twin_box_all_end(box, array, status == H5TWIN_OK);
    return status;
}

/* Only the parameter knows the size of what is not verbatim: a few bytes can stand for any number
 * of equal values. */
static enum h5twin_status
raw_size(const struct h5twin_job *job, const uint8_t *src, size_t src_size, uint64_t *size)
{
    if (src_size < 1) {
        return H5TWIN_ERR_SRC_SHORT;
    }
    if (src[0] == LATTICE_COMPANION) {
        const struct h5twin_job other = h5twin_lattice_companion_job(job);
        return job->companion == NULL
                   ? H5TWIN_ERR_VERSION
                   : job->companion->raw_size(&other, src + 1, src_size - 1, size);
    }
    *size = src[0] == LATTICE_VERBATIM ? src_size - 1 : (uint64_t)job->parameter * job->word_size;
    return job->parameter > LATTICE_MOST_VALUES ? H5TWIN_ERR_CORRUPT : H5TWIN_OK;
}

static size_t
describe(const struct h5twin_job *job, const uint8_t *src, size_t src_size, char *text,
         size_t capacity)
{
    return h5twin_lattice_describe(job->word_size, job->parameter, src, src_size, text, capacity);
}

const struct h5twin_codec h5twin_lattice_codec = {
    .info =
        {
            H5TWIN_CODEC_AS_LISTED(lattice, LATTICE),
            .lossy = true,
            .relative = true,
            .summary = "lattice: floats within any absolute (abs=E), range-relative (noa=E) or "
                       "point-wise relative (rel=E) bound",
            .option_count = FIELD_COUNT,
            .options = options,
        },
    .min_word_size = 1, /* for the companion */
    .has_own_bound = true,
    .companion = (enum h5twin_codec_id)6, /* cascade */
    .check_options = check_options,
    .prepare = prepare,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .decode_box = decode_box,
    .raw_size = raw_size,
    .describe = describe,
};
