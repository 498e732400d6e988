/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_differential.c: any bytes as an array of any shape, with any options of any codec: every
 * instruction set gives the bytes of scalar code, and reads them. */
#include "fuzz.h"

#include "codec.h"
#include "differential.h"

/* Bytes before the array: FUZZ_SELECTOR, one that says where the shape comes from, and options. */
#define OPTION_BYTES 8u
#define SELECTOR     (FUZZ_SELECTOR + 1u + OPTION_BYTES)
#define LARGEST      ((size_t)64 << 10)

/* Each option as a byte says; what the codec refuses stays at the default. */
static void
choose_options(struct h5twin_params *params, const uint8_t *bytes)
{
    const struct h5twin_codec_info *const info = h5twin_codec_by_id(params->codec);
    const struct h5twin_codec *const codec = h5twin_codec_find(params->codec);
    for (uint32_t i = 0; i < info->option_count; i++) {
        const struct h5twin_option_info *const option = &codec->info.options[i];
        const uint64_t field = bytes[i % OPTION_BYTES] >> i / OPTION_BYTES * 2;
        struct h5twin_params changed = *params;
        changed.options |= (field & ((UINT64_C(1) << option->width_bits) - 1)) << option->shift;
        if (h5twin_params_check(&changed) == H5TWIN_OK) {
            *params = changed;
        }
    }
}

/* The input's bytes again and again, as many as the shape has: most have more than a fuzzer's
 * inputs. Returns the size. */
static size_t
fill_shape(const struct h5twin_params *params, uint8_t *array, const uint8_t *bytes, size_t size)
{
    uint64_t wanted = params->element_size;
    for (uint32_t axis = 0; axis < params->rank; axis++) {
        wanted *= params->dims[axis];
        if (wanted > LARGEST) {
            return 0;
        }
    }
    for (size_t i = 0; i < wanted; i++) {
        array[i] = (uint8_t)(bytes[i % size] + i / size);
    }
    return (size_t)wanted;
}

static void
check(const struct h5twin_params *params, const uint8_t *array, size_t size)
{
    static struct test_differential run;
    if (run.buffers == NULL) {
        test_differential_open(&run, LARGEST, NULL);
    }
    if (!test_differential_check(&run, params, array, size)) {
        char spec[256];
        h5twin_params_format(params, spec, sizeof spec);
        fprintf(stderr, "%s, %zu bytes: %s\n", spec, size, run.difference);
        abort();
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    static uint8_t array[LARGEST];
    if (input_size <= SELECTOR || input_size - SELECTOR > LARGEST) {
        return 0;
    }
    const uint8_t *const bytes = input + SELECTOR;
    const size_t size = input_size - SELECTOR;
    struct h5twin_params params = fuzz_params(input, size);
    const uint8_t how = input[FUZZ_SELECTOR];
    if (how % 4 != 0) {
        choose_options(&params, input + FUZZ_SELECTOR + 1);
    }
    if (how % 2 == 0) {
        check(&params, bytes, size);
        return 0;
    }
    /* A shape of the two dims of the selector, and a few of the slowest. */
    const uint64_t dims[3] = {how / 16 + 1u, input[2] % 132u + 1u, input[3] % 132u + 1u};
    const uint32_t rank = how / 4 % 4 == 0 ? 3 : 2;
    h5twin_params_set_array(&params, params.kind, params.element_size, rank, dims + 3 - rank);
    check(&params, array, fill_shape(&params, array, bytes, size));
    return 0;
}
