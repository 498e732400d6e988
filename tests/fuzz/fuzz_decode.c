/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_decode.c: any bytes as a chunk. Magic, version and checksum are made right first, so that
 * mutations reach the frame's other fields and the codecs. */
#include "fuzz.h"

#include "specs.h"

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    static const uint8_t start[5] = {'H', '5', 'T', 'W', 1};
    uint8_t *const chunk = fuzz_copy(input, input_size);
    if (input_size >= 24) {
        memcpy(chunk, start, sizeof start);
        test_reseal(chunk, input_size);
    }
    struct h5twin_info info;
    char text[100];
    (void)h5twin_describe(chunk, input_size, text, sizeof text);
    if (h5twin_inspect(chunk, input_size, &info) == H5TWIN_OK && info.raw_size <= FUZZ_LARGEST) {
        const size_t raw_size = (size_t)info.raw_size;
        uint8_t *const array = malloc(raw_size == 0 ? 1 : raw_size);
        FUZZ_REQUIRE(array != NULL);
        size_t array_size = SIZE_MAX;
        const enum h5twin_status status =
            h5twin_decode(NULL, array, raw_size, chunk, input_size, &array_size);
        FUZZ_REQUIRE(status == H5TWIN_OK ? array_size == raw_size : array_size == SIZE_MAX);
        free(array);
    }
    free(chunk);
    return 0;
}
