/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_residuals.c: any bytes as a residual stream, and as words to make one of. The first byte
 * says how many bits a word has and the method, the next three how many words there are. */
#include "fuzz.h"

#include "isa.h"
#include "residuals/residuals.h"

#define HEAD        4u
#define MOST_WORDS  70000u
#define METHODS     8u /* the last three are none */
#define MOST_SOURCE ((size_t)1 << 20)

static void
decode(struct h5twin_residuals how, const uint8_t *stream, size_t size, size_t count)
{
    void *const words = malloc(count * 8 + 1);
    how.scratch = malloc(h5twin_residuals_decode_scratch(count) + 1);
    size_t used;
    const enum h5twin_status status =
        h5twin_residuals_decode(&how, words, count, stream, size, &used);
    FUZZ_REQUIRE(status == H5TWIN_OK ? used <= size : used == 0);
    free(how.scratch);
    free(words);
}

static void
round_trip(struct h5twin_residuals how, enum h5twin_residuals_way way, const uint8_t *words,
           size_t count)
{
    const size_t bound = h5twin_residuals_bound(way, count, how.word_bits);
    uint8_t *const stream = malloc(bound);
    uint8_t *const back = malloc(count * 8 + 1);
    how.scratch = malloc(h5twin_residuals_encode_scratch(way, count, 1) + 1);
    const size_t size = h5twin_residuals_encode(&how, way, stream, words, count);
    FUZZ_REQUIRE(size <= bound);
    free(how.scratch);
    how.scratch = malloc(h5twin_residuals_decode_scratch(count) + 1);
    size_t used;
    FUZZ_REQUIRE(h5twin_residuals_decode(&how, back, count, stream, size, &used) == H5TWIN_OK);
    FUZZ_REQUIRE(used == size && memcmp(back, words, count * (how.word_bits / 8)) == 0);
    free(how.scratch);
    free(stream);
    free(back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t input_size)
{
    if (input_size < HEAD || input_size > MOST_SOURCE) {
        return 0;
    }
    const struct h5twin_residuals how = {
        .word_bits = input[0] & 1 ? 64 : 32, .threads = 1, .isa = h5twin_isa_available()};
    const size_t count = (input[1] | (size_t)input[2] << 8 | (size_t)input[3] << 16) % MOST_WORDS;
    uint8_t *const stream = fuzz_copy(input + HEAD, input_size - HEAD);
    const size_t size = input_size - HEAD;
    round_trip(how, input[0] & 2 ? H5TWIN_RESIDUALS_RANS : H5TWIN_RESIDUALS_PACKED, stream,
               size / 8);
    if (size != 0) {
        stream[0] = (uint8_t)(input[0] >> 2) % METHODS;
    }
    decode(how, stream, size, count);
    free(stream);
    return 0;
}
