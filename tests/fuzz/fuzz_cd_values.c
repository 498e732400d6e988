/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_cd_values.c: any words as a filter's parameters: refused with a sentence, or read as
 * parameters that are written as words that say the same, before and after a dataset is known. */
#include "fuzz.h"

#include "cd_values.h"

#include <math.h>

#define MAX_WORDS 40u

static bool
same(const struct h5twin_cd *left, const struct h5twin_cd *right)
{
    return left->params.codec == right->params.codec && left->params.mode == right->params.mode &&
           (left->params.mode == H5TWIN_LOSSLESS ||
            memcmp(&left->params.error_bound, &right->params.error_bound, sizeof(double)) == 0) &&
           left->params.options == right->params.options;
}

static bool
same_array(const struct h5twin_cd *left, const struct h5twin_cd *right)
{
    return left->params.kind == right->params.kind &&
           left->params.element_size == right->params.element_size &&
           left->params.big_endian == right->params.big_endian &&
           left->params.rank == right->params.rank &&
           memcmp(left->params.dims, right->params.dims,
                  left->params.rank * sizeof left->params.dims[0]) == 0;
}

/* Bits, or nothing where there is no fill; a declared one is of the array's type. */
static bool
same_fills(const struct h5twin_params *left, const struct h5twin_params *right)
{
    const float narrow = (float)left->declared_fill;
    const double declared =
        left->element_size == 4 && !isnan(narrow) ? (double)narrow : left->declared_fill;
    return left->has_fill == right->has_fill &&
           left->has_declared_fill == right->has_declared_fill &&
           left->zeros_are_padding == right->zeros_are_padding &&
           (!left->has_fill || memcmp(&left->fill, &right->fill, sizeof(double)) == 0) &&
           (!left->has_declared_fill || isnan(declared) ||
            memcmp(&declared, &right->declared_fill, sizeof declared) == 0);
}

/* What is written reads back the same and, written again, gives the same words. */
static void
check_stored_form(const struct h5twin_cd *cd)
{
    unsigned words[H5TWIN_CD_MAX], again[H5TWIN_CD_MAX];
    struct h5twin_cd back;
    const char *why = NULL;
    const size_t word_count = h5twin_cd_write(words, cd);
    FUZZ_REQUIRE(word_count <= H5TWIN_CD_MAX);
    FUZZ_REQUIRE(h5twin_cd_read(&back, cd->params.codec, words, word_count, &why) == H5TWIN_OK);
    FUZZ_REQUIRE(same(cd, &back) && back.has_array && same_array(cd, &back));
    FUZZ_REQUIRE(same_fills(&cd->params, &back.params));
    FUZZ_REQUIRE(h5twin_cd_write(again, &back) == word_count);
    FUZZ_REQUIRE(memcmp(words, again, word_count * sizeof words[0]) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    if (input_size < 4) {
        return 0;
    }
    const struct h5twin_codec_info *const info = h5twin_codec_at(input[0] % h5twin_codec_count());
    const size_t word_count =
        (input_size - 4) / 4 < MAX_WORDS ? (input_size - 4) / 4 : (size_t)MAX_WORDS;
    /* Exactly as long as told, like HDF5's own. */
    unsigned *const words = malloc(word_count == 0 ? 1 : word_count * sizeof(unsigned));
    FUZZ_REQUIRE(words != NULL);
    memcpy(words, input + 4, word_count * sizeof(unsigned));
    struct h5twin_cd cd;
    const char *why = NULL;
    const enum h5twin_status status = h5twin_cd_read(&cd, info->id, words, word_count, &why);
    free(words);
    if (status != H5TWIN_OK) {
        FUZZ_REQUIRE(why != NULL && strlen(why) > 10);
        return 0;
    }
    FUZZ_REQUIRE(h5twin_params_check(&cd.params) == H5TWIN_OK);
    if (cd.has_array) {
        check_stored_form(&cd);
    }
    /* As set_local does for a dataset. */
    uint64_t dims[32];
    for (unsigned axis = 0; axis < 32; axis++) {
        dims[axis] = axis % 3 == 0 ? 1u + input[1] : 1u + (input[2] >> (axis % 8));
    }
    const bool is_float = input[3] % 2 != 0;
    if (input[1] % 2 != 0) {
        cd.params.has_declared_fill = true;
        cd.params.declared_fill = (double)input[2] - 100.5;
    }
    h5twin_cd_set_array(&cd, is_float ? H5TWIN_FLOAT : H5TWIN_INTEGER, is_float ? 4 : 2,
                        input[3] % 4 > 1, 1, 1u + input[3] / 4 % 6, dims);
    if (h5twin_params_check(&cd.params) == H5TWIN_OK) { /* some options are not for some elements */
        check_stored_form(&cd);
    }
    return 0;
}
