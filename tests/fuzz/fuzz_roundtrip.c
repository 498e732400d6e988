/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_roundtrip.c: any bytes as an array: what goes in comes out, and a lossy result is a fixed
 * point. */
#include "fuzz.h"

/* Encode and decode; the array that came back, to be freed. */
static uint8_t *
through(const struct h5twin_params *params, const uint8_t *array, size_t array_size)
{
    const size_t capacity = h5twin_bound(params, array_size);
    FUZZ_REQUIRE(capacity >= array_size + 24);
    uint8_t *const chunk = malloc(capacity);
    uint8_t *const back = malloc(array_size == 0 ? 1 : array_size);
    size_t chunk_size = 0, back_size = 0;
    FUZZ_REQUIRE(chunk != NULL && back != NULL);
    FUZZ_REQUIRE(h5twin_encode(params, NULL, chunk, capacity, array, array_size, &chunk_size) ==
                 H5TWIN_OK);
    FUZZ_REQUIRE(chunk_size <= array_size + 24);
    uint8_t *const exact = fuzz_copy(chunk, chunk_size);
    free(chunk);
    FUZZ_REQUIRE(h5twin_decode(NULL, back, array_size, exact, chunk_size, &back_size) == H5TWIN_OK);
    FUZZ_REQUIRE(back_size == array_size);
    free(exact);
    return back;
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    if (input_size < FUZZ_SELECTOR) {
        return 0;
    }
    const size_t array_size = input_size - FUZZ_SELECTOR;
    const struct h5twin_params params = fuzz_params(input, array_size);
    uint8_t *const array = fuzz_copy(input + FUZZ_SELECTOR, array_size);
    uint8_t *const once = through(&params, array, array_size);
    if (params.mode == H5TWIN_LOSSLESS || params.kind != H5TWIN_FLOAT) {
        FUZZ_REQUIRE(memcmp(array, once, array_size) == 0);
    } else {
        uint8_t *const twice = through(&params, once, array_size);
        FUZZ_REQUIRE(memcmp(once, twice, array_size) == 0);
        free(twice);
    }
    free(array);
    free(once);
    return 0;
}
