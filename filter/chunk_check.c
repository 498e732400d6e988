/* SPDX-License-Identifier: BSD-3-Clause
 * chunk_check.c: see chunk_check.h. */
#include "chunk_check.h"

#include "codec.h"

#include <inttypes.h>
#include <stdio.h>

/* Filters before this one add a few bytes (fletcher32) or take away nearly all (a constant). Memory
 * is given for what the dataset's chunk has, so that it must not be any number that a file says. */
#define MOST_DIFFERENCE (UINT64_C(64) << 20)

/* Whether the chunks are as HDF5 made them. h5twin 0.1.0 did not store is_first, but has always
 * refused a bound on floats behind another filter. */
static bool
is_exact(const struct h5twin_cd *cd)
{
    const struct h5twin_params *const params = &cd->params;
    return cd->is_first ||
           (params->mode != H5TWIN_LOSSLESS && params->kind == H5TWIN_FLOAT && params->rank > 0);
}

/* Whether HDF5 may ask for this size, if the dataset's own is not exact. An array without dims has
 * one element, or more than cd_values can tell. */
static bool
is_believable(const struct h5twin_cd *cd, uint64_t size)
{
    const uint64_t own = cd->chunk_size;
    const uint64_t difference = size > own ? size - own : own - size;
    return difference <= MOST_DIFFERENCE || cd->params.rank == 0;
}

static bool
check_size(const struct h5twin_cd *cd, uint64_t size, char why[H5TWIN_CHECK_TEXT])
{
    if (size == cd->chunk_size || (!is_exact(cd) && is_believable(cd, size))) {
        return true;
    }
    snprintf(why, H5TWIN_CHECK_TEXT,
             "It has %" PRIu64 " bytes when decoded, while those of the dataset have %zu: it is "
             "another dataset's, or the filter's parameters in the file are damaged; restore the "
             "file from a copy.",
             size, cd->chunk_size);
    return false;
}

struct words {
    enum h5twin_kind kind;
    unsigned size; /* bytes */
    bool big_endian;
};

static const char *
words_text(const struct words *words, char text[64])
{
    snprintf(text, 64, "%s%s of %u bytes", words->big_endian ? "big-endian " : "",
             words->kind == H5TWIN_FLOAT     ? "floats"
             : words->kind == H5TWIN_INTEGER ? "integers"
                                             : "words of no number",
             words->size);
    return text;
}

/* What the encoder makes of elements in a chunk of this size, whatever the codec's options; false
 * if they are too many. */
static bool
find_words(struct words *words, struct h5twin_params params, const struct h5twin_info *info)
{
    struct h5twin_job job;
    const struct h5twin_codec *codec;
    params.codec = info->codec;
    params.mode = H5TWIN_LOSSLESS;
    params.options = 0;
    params.rank = 0;
    if (h5twin_job_from_params(&job, &codec, &params, (size_t)info->raw_size) != H5TWIN_OK) {
        return false;
    }
    *words = (struct words){params.kind, job.word_size, h5twin_must_swap(&params, job.word_size)};
    return true;
}

static bool
same_words(const struct words *left, const struct words *right)
{
    return left->kind == right->kind && left->size == right->size &&
           left->big_endian == right->big_endian;
}

/* An encoder that does not believe cd_values, since they are damaged or of a later version, takes
 * the array as bytes. */
static bool
check_words(const struct h5twin_cd *cd, const struct h5twin_info *info, char why[H5TWIN_CHECK_TEXT])
{
    const struct words found = {info->kind, info->word_size, info->big_endian};
    struct words own, of_bytes;
    struct h5twin_params bytes;
    h5twin_params_init(&bytes, info->codec);
    if (!find_words(&own, cd->params, info) || !find_words(&of_bytes, bytes, info)) {
        return true; /* the decoder says so */
    }
    if (same_words(&found, &own) || same_words(&found, &of_bytes)) {
        return true;
    }
    char own_text[64], found_text[64];
    snprintf(
        why, H5TWIN_CHECK_TEXT,
        "It was made of %s, while the dataset has %s: it is another dataset's, or the filter's "
        "parameters in the file are damaged; restore the file from a copy.",
        words_text(&found, found_text), words_text(&own, own_text));
    return false;
}

bool
h5twin_check_chunk(const struct h5twin_cd *cd, const struct h5twin_info *info,
                   char why[H5TWIN_CHECK_TEXT])
{
    return !cd->has_array || (check_size(cd, info->raw_size, why) && check_words(cd, info, why));
}
