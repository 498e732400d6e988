/* SPDX-License-Identifier: BSD-3-Clause
 * cd_values.c: see cd_values.h. */
#include "cd_values.h"

#include "bound_words.h"
#include "common/bits.h"

#include <math.h>
#include <string.h>

/* Words. */
#define WORD_MODE       0
#define WORD_BOUND      1 /* and 2: low, high */
#define WORD_OPTIONS    3 /* and 4: low, high */
#define WORD_TAG        5
#define WORD_ELEMENT    6
#define WORD_RANK       7 /* rank in bits 0..7, flags above */
#define WORD_DIMS       8
#define USER_WORDS      5
#define WORD_NAMED      5 /* and 6, in the user's form: fill value as a double, low and high */
#define NAMED_WORDS     7
#define STORED_WORDS    8 /* without dims */
#define TAG             0x5457u
#define LAYOUT          1u
#define ELEMENT_KIND    24 /* word 6: size in bits 0..23, kind in 24..25, big endian in 28 */
#define ELEMENT_BIG     28
#define ELEMENT_LARGEST 0xFFFFFFu
#define RANK_FILL       0x100u  /* two words after the dims: fill value, low and high */
#define RANK_NAMED      0x200u  /* which the user has named */
#define RANK_ZEROS      0x400u  /* HDF5 pads with zeros */
#define RANK_FIRST      0x800u  /* of the pipeline: chunks decode to the chunk size */
#define RANK_DECLARED   0x1000u /* two more words: the dataset's own, beside a named one */
#define FILL_WORDS      2

/* ---- reading ---- */

static uint64_t
word_pair(const unsigned *cd_values, size_t cd_count, size_t index)
{
    const uint64_t low = index < cd_count ? cd_values[index] : 0;
    const uint64_t high = index + 1 < cd_count ? cd_values[index + 1] : 0;
    return low | (high << 32);
}

static enum h5twin_status
check_form(const unsigned *cd_values, size_t cd_count, const char **why)
{
    if (cd_count <= USER_WORDS || cd_count == NAMED_WORDS) {
        return H5TWIN_OK;
    }
    if ((cd_values[WORD_TAG] & 0xFFFFFFFFu) >> 16 != TAG) {
        *why = "There are more than 5 values and they were not stored by this filter: give at "
               "most 5 (mode, bound low word, bound high word, options low word, options high "
               "word), or 7 with a fill value (low word, high word); the rest is filled in.";
        return H5TWIN_ERR_ARG;
    }
    if ((cd_values[WORD_TAG] & 0xFFFFu) != LAYOUT) {
        *why = "The values were stored by a newer h5twin: update the plugin, or give the values "
               "anew, at most 5.";
        return H5TWIN_ERR_VERSION;
    }
    return H5TWIN_OK;
}

static enum h5twin_status
read_mode(struct h5twin_cd *cd, const unsigned *cd_values, size_t cd_count, const char **why)
{
    struct h5twin_params *const params = &cd->params;
    const unsigned mode = cd_count == 0 ? 0u : cd_values[WORD_MODE];
    if (mode > H5TWIN_REL) {
        *why = "The first value must be 0 (lossless), 1 (absolute error bound), 2 (range-relative "
               "error bound) or 3 (point-wise relative error bound): correct it, or give no values "
               "for lossless.";
        return H5TWIN_ERR_MODE;
    }
    const uint64_t bound_bits = word_pair(cd_values, cd_count, WORD_BOUND);
    if (mode == H5TWIN_LOSSLESS) {
        if (bound_bits != 0) {
            *why = "An error bound is given, but the first value says 0, lossless: set it to 1 "
                   "(absolute) or 2 (range-relative), or leave the bound away.";
            return H5TWIN_ERR_BOUND;
        }
        return H5TWIN_OK;
    }
    if (cd_count < WORD_BOUND + 2) {
        *why = "An error mode needs an error bound: give three values, the mode and the bound as "
               "low and high word of a double, or no values for lossless.";
        return H5TWIN_ERR_BOUND;
    }
    params->mode = (enum h5twin_mode)mode;
    memcpy(&params->error_bound, &bound_bits, sizeof bound_bits);
    if (!(params->error_bound > 0) || isinf(params->error_bound)) {
        *why = "The error bound is not a positive finite number: give values 2 and 3 as the low "
               "and the high word of a double, in this order.";
        return H5TWIN_ERR_BOUND;
    }
    if (h5twin_bound_is_doubtful(params->error_bound, cd->sentence, sizeof cd->sentence)) {
        *why = cd->sentence;
        return H5TWIN_ERR_BOUND;
    }
    return H5TWIN_OK;
}

/* Of these flags. */
static unsigned
fill_count(unsigned flags)
{
    return ((flags & RANK_FILL) != 0 ? 1u : 0u) + ((flags & RANK_DECLARED) != 0 ? 1u : 0u);
}

static double
double_of_words(const unsigned *cd_values, size_t cd_count, size_t index)
{
    return h5twin_double_of_bits(word_pair(cd_values, cd_count, index));
}

/* A dataset's own fill value is one of the array's type, that of a user a double: the words may be
 * copied to a dataset of another type. */
static void
read_fills(struct h5twin_params *params, const unsigned *cd_values, size_t cd_count)
{
    const unsigned flags = cd_values[WORD_RANK];
    size_t at = WORD_DIMS + params->rank;
    params->has_fill = (flags & RANK_NAMED) != 0;
    params->has_declared_fill = fill_count(flags) > (params->has_fill ? 1u : 0u);
    params->zeros_are_padding = (flags & RANK_ZEROS) != 0;
    if (params->has_fill) {
        params->fill = double_of_words(cd_values, cd_count, at);
        at += FILL_WORDS;
    }
    if (params->has_declared_fill) {
        const uint64_t bits = word_pair(cd_values, cd_count, at);
        params->declared_fill = h5twin_double_of_bits(
            params->element_size == 4 ? h5twin_widen_float_bits((uint32_t)bits) : bits);
    }
}

/* Words 6.., which a hostile or torn file may have changed: all or nothing. */
static void
read_array(struct h5twin_cd *cd, const unsigned *cd_values, size_t cd_count)
{
    if (cd_count < STORED_WORDS || cd_count > H5TWIN_CD_MAX) {
        return;
    }
    const unsigned element = cd_values[WORD_ELEMENT];
    const unsigned flags =
        cd_values[WORD_RANK] & (RANK_FILL | RANK_NAMED | RANK_ZEROS | RANK_FIRST | RANK_DECLARED);
    const unsigned rank = cd_values[WORD_RANK] & ~flags;
    const unsigned element_size = element & ELEMENT_LARGEST;
    const unsigned kind = (element >> ELEMENT_KIND) & 3u;
    const unsigned known_bits =
        ELEMENT_LARGEST | (3u << ELEMENT_KIND) | (1u << ELEMENT_BIG); /* others are 0 */
    if ((element & ~known_bits) != 0 || kind > H5TWIN_OTHER || element_size == 0 ||
        rank > H5TWIN_MAX_RANK ||
        cd_count != STORED_WORDS + rank + FILL_WORDS * fill_count(flags) ||
        (kind == H5TWIN_FLOAT && element_size != 4 && element_size != 8) ||
        ((flags & RANK_NAMED) != 0 && (flags & RANK_FILL) == 0) ||
        ((flags & RANK_DECLARED) != 0 && (flags & RANK_NAMED) == 0)) {
        return;
    }
    uint64_t dims[H5TWIN_MAX_RANK];
    size_t chunk_size = element_size;
    for (unsigned axis = 0; axis < rank; axis++) {
        dims[axis] = cd_values[WORD_DIMS + axis];
        if (dims[axis] == 0 || chunk_size > SIZE_MAX / 2 / dims[axis]) {
            return;
        }
        chunk_size *= (size_t)dims[axis];
    }
    h5twin_params_set_array(&cd->params, (enum h5twin_kind)kind, element_size, rank, dims);
    cd->params.big_endian = ((element >> ELEMENT_BIG) & 1u) != 0;
    cd->has_array = true;
    cd->chunk_size = chunk_size;
    cd->is_first = (cd_values[WORD_RANK] & RANK_FIRST) != 0;
    read_fills(&cd->params, cd_values, cd_count);
}

enum h5twin_status
h5twin_cd_read(struct h5twin_cd *cd, enum h5twin_codec_id codec, const unsigned *cd_values,
               size_t cd_count, const char **why)
{
    *cd = (struct h5twin_cd){.has_array = false};
    h5twin_params_init(&cd->params, codec);
    enum h5twin_status status = check_form(cd_values, cd_count, why);
    if (status == H5TWIN_OK) {
        read_array(cd, cd_values, cd_count);
        status = read_mode(cd, cd_values, cd_count, why);
    }
    if (status == H5TWIN_OK) {
        cd->params.options = word_pair(cd_values, cd_count, WORD_OPTIONS);
        status = h5twin_params_check(&cd->params);
        *why = h5twin_status_message(status);
    }
    if (status == H5TWIN_OK && cd_count == NAMED_WORDS) {
        if (!h5twin_codec_by_id(codec)->lossy) {
            *why = "A fill value is given to a codec that is always lossless, which keeps all "
                   "values as they are: give at most 5 values.";
            return H5TWIN_ERR_OPTION;
        }
        cd->params.has_fill = true;
        cd->params.fill = double_of_words(cd_values, cd_count, WORD_NAMED);
    }
    return status;
}

/* ---- writing ---- */

static void
write_user_words(unsigned cd_values[USER_WORDS], const struct h5twin_params *params)
{
    uint64_t bound_bits = 0;
    if (params->mode != H5TWIN_LOSSLESS) {
        memcpy(&bound_bits, &params->error_bound, sizeof bound_bits);
    }
    cd_values[WORD_MODE] = (unsigned)params->mode;
    cd_values[WORD_BOUND] = (unsigned)bound_bits;
    cd_values[WORD_BOUND + 1] = (unsigned)(bound_bits >> 32);
    cd_values[WORD_OPTIONS] = (unsigned)params->options;
    cd_values[WORD_OPTIONS + 1] = (unsigned)(params->options >> 32);
}

static void
write_pair(unsigned *cd_values, uint64_t bits)
{
    cd_values[0] = (unsigned)bits;
    cd_values[1] = (unsigned)(bits >> 32);
}

unsigned
h5twin_params_to_cd_values(const struct h5twin_params *params,
                           unsigned cd_values[H5TWIN_USER_CD_VALUES])
{
    write_user_words(cd_values, params);
    if (params->has_fill) {
        write_pair(cd_values + WORD_NAMED, h5twin_bits_of_double(params->fill));
        return NAMED_WORDS;
    }
    unsigned cd_count = USER_WORDS;
    while (cd_count > 0 && cd_values[cd_count - 1] == 0 &&
           !(cd_count == WORD_BOUND + 2 && params->mode != H5TWIN_LOSSLESS)) {
        cd_count--;
    }
    return cd_count;
}

size_t
h5twin_cd_write(unsigned cd_values[H5TWIN_CD_MAX], const struct h5twin_cd *cd)
{
    const struct h5twin_params *const params = &cd->params;
    write_user_words(cd_values, params);
    cd_values[WORD_TAG] = (TAG << 16) | LAYOUT;
    cd_values[WORD_ELEMENT] = params->element_size | ((unsigned)params->kind << ELEMENT_KIND) |
                              ((params->big_endian ? 1u : 0u) << ELEMENT_BIG);
    cd_values[WORD_RANK] =
        params->rank | (params->has_fill || params->has_declared_fill ? RANK_FILL : 0u) |
        (params->has_fill ? RANK_NAMED : 0u) |
        (params->has_fill && params->has_declared_fill ? RANK_DECLARED : 0u) |
        (params->zeros_are_padding ? RANK_ZEROS : 0u) | (cd->is_first ? RANK_FIRST : 0u);
    for (unsigned axis = 0; axis < params->rank; axis++) {
        cd_values[WORD_DIMS + axis] = (unsigned)params->dims[axis];
    }
    size_t at = WORD_DIMS + params->rank;
    if (params->has_fill) {
        write_pair(cd_values + at, h5twin_bits_of_double(params->fill));
        at += FILL_WORDS;
    }
    if (params->has_declared_fill) {
        const uint64_t bits = h5twin_bits_of_double(params->declared_fill);
        write_pair(cd_values + at,
                   params->element_size == 4 ? h5twin_narrow_double_bits(bits) : bits);
        at += FILL_WORDS;
    }
    return at;
}

/* ---- from the dataset ---- */

/* Append an axis, folding the two slowest when there is no room. */
static void
add_axis(struct h5twin_params *params, uint32_t most, uint64_t extent)
{
    if (extent == 1) {
        return;
    }
    if (params->rank == most) {
        params->dims[0] *= params->dims[1];
        memmove(params->dims + 1, params->dims + 2, (most - 2) * sizeof params->dims[0]);
        params->rank--;
    }
    params->dims[params->rank++] = extent;
}

void
h5twin_cd_set_array(struct h5twin_cd *cd, enum h5twin_kind kind, size_t element_size,
                    bool big_endian, size_t count, unsigned rank, const uint64_t *dims)
{
    struct h5twin_params *const params = &cd->params;
    const uint32_t fills = (params->has_fill ? 1u : 0u) + (params->has_declared_fill ? 1u : 0u);
    const uint32_t most = H5TWIN_MAX_RANK - FILL_WORDS * fills;
    if (element_size > ELEMENT_LARGEST) { /* only "other": its bytes become the innermost axis */
        count = element_size;
        element_size = 1;
        kind = H5TWIN_OTHER;
        big_endian = false;
    }
    h5twin_params_set_array(params, kind, (uint32_t)element_size, 0, NULL);
    params->big_endian = big_endian;
    for (unsigned axis = 0; axis < rank; axis++) {
        add_axis(params, most, dims[axis]);
    }
    add_axis(params, most, count);
    for (unsigned axis = 0; axis < params->rank; axis++) {
        if (params->dims[axis] > UINT32_MAX) {
            params->rank = 0; /* no word holds it: an array of unknown shape */
            cd->is_first = false;
        }
    }
}

/* ---- for programs ---- */

enum h5twin_status
h5twin_params_from_cd_values(struct h5twin_params *params, enum h5twin_codec_id codec,
                             const unsigned *cd_values, size_t cd_count)
{
    struct h5twin_cd cd;
    const char *why;
    if (params == NULL || (cd_values == NULL && cd_count != 0)) {
        return H5TWIN_ERR_ARG;
    }
    const enum h5twin_status status = h5twin_cd_read(&cd, codec, cd_values, cd_count, &why);
    if (status == H5TWIN_OK) {
        *params = cd.params;
    }
    return status;
}
