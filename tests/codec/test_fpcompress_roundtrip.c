/* SPDX-License-Identifier: BSD-3-Clause
 * test_fpcompress_roundtrip.c: every coder, kind of input and edge size comes back, framed and
 * bare, from odd addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fpcompress_cases.h"

#include <stdlib.h>

/* In words; each also with a few bytes more. */
static const size_t word_counts[] = {0,    1,    2,    5,    31,   32,    33,    63,   64,
                                     65,   127,  128,  129,  1023, 2047,  2048,  2049, 4095,
                                     4096, 4097, 6000, 8191, 8193, 16383, 16384, 16385};

static void
check_roundtrip(const struct fpcompress_coder *coder, enum fpcompress_input input, size_t size)
{
    const struct h5twin_params params = fpcompress_params(coder);
    const size_t capacity = h5twin_bound(&params, size);
    uint8_t *const src = malloc(size + 1);
    uint8_t *const back = malloc(size + 1);
    uint8_t *const chunk = malloc(capacity);
    size_t chunk_size = 0, back_size = 0;
    fpcompress_fill(src + 1, size, coder->word_size, input);

    assert_int_equal(h5twin_encode(&params, NULL, chunk, capacity, src + 1, size, &chunk_size),
                     H5TWIN_OK);
    assert_true(chunk_size <= size + 24);
    assert_int_equal(h5twin_decode(NULL, back + 1, size, chunk, chunk_size, &back_size), H5TWIN_OK);
    assert_int_equal(back_size, size);
    assert_memory_equal(back + 1, src + 1, size);

    assert_int_equal(
        h5twin_encode_payload(&params, NULL, chunk, capacity, src + 1, size, &chunk_size),
        H5TWIN_OK);
    uint8_t *const exact = malloc(chunk_size);
    memcpy(exact, chunk, chunk_size);
    memset(back, 0x5A, size + 1);
    assert_int_equal(h5twin_decode_payload(&params, NULL, back + 1, size, exact, chunk_size),
                     H5TWIN_OK);
    assert_memory_equal(back + 1, src + 1, size);
    free(src);
    free(back);
    free(chunk);
    free(exact);
}

static void
test_every_size_comes_back(void **state)
{
    (void)state;
    for (size_t c = 0; c < FPCOMPRESS_CODERS; c++) {
        const struct fpcompress_coder *const coder = &fpcompress_coders[c];
        for (size_t s = 0; s < sizeof word_counts / sizeof word_counts[0]; s++) {
            for (int input = 0; input < INPUT_COUNT; input++) {
                for (size_t tail = 0; tail < coder->word_size; tail += 1 + tail) {
                    check_roundtrip(coder, (enum fpcompress_input)input,
                                    word_counts[s] * coder->word_size + tail);
                }
            }
        }
    }
}

static void
test_every_length_up_to_700_bytes_comes_back(void **state)
{
    (void)state;
    for (size_t c = 0; c < FPCOMPRESS_CODERS; c++) {
        for (size_t size = 0; size <= 700; size++) {
            check_roundtrip(&fpcompress_coders[c], INPUT_RAMP, size);
            check_roundtrip(&fpcompress_coders[c], INPUT_SPARSE, size);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size_comes_back),
        cmocka_unit_test(test_every_length_up_to_700_bytes_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
