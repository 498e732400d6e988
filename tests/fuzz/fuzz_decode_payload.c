/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_decode_payload.c: any bytes as a bare stream of any codec. */
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    if (input_size < FUZZ_SELECTOR) {
        return 0;
    }
    const struct h5twin_params params = fuzz_params(input, 0);
    const size_t stream_size = input_size - FUZZ_SELECTOR;
    uint8_t *const stream = fuzz_copy(input + FUZZ_SELECTOR, stream_size);
    uint64_t raw_size = 0;
    const enum h5twin_status status =
        h5twin_payload_raw_size(&params, stream, stream_size, &raw_size);
    if (status == H5TWIN_OK && raw_size <= FUZZ_LARGEST) {
        uint8_t *const array = malloc(raw_size == 0 ? 1 : (size_t)raw_size);
        FUZZ_REQUIRE(array != NULL);
        (void)h5twin_decode_payload(&params, NULL, array, (size_t)raw_size, stream, stream_size);
        free(array);
    }
    /* A caller may also expect another size than the stream's. */
    const size_t expected_size = 4u * ((size_t)input[2] * 16u + input[3]);
    uint8_t *const array = malloc(expected_size == 0 ? 1 : expected_size);
    FUZZ_REQUIRE(array != NULL);
    (void)h5twin_decode_payload(&params, NULL, array, expected_size, stream, stream_size);
    free(array);
    free(stream);
    return 0;
}
