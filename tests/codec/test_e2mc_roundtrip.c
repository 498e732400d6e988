/* SPDX-License-Identifier: BSD-3-Clause
 * test_e2mc_roundtrip.c: every array comes back, from any parameters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "e2mc_cases.h"

/* Encode, check the promised size, decode from a buffer of exactly that size. */
static void
check_round_trip(const struct h5twin_params *params, const uint8_t *src, size_t size,
                 const char *spec)
{
    const size_t capacity = h5twin_bound(params, size);
    uint8_t *const stream = malloc(capacity);
    size_t stream_size;
    if (h5twin_encode_payload(params, NULL, stream, capacity, src, size, &stream_size) !=
        H5TWIN_OK) {
        fail_msg("%s does not encode %zu bytes", spec, size);
    }
    assert_true(stream_size <= 16 + size);
    uint8_t *const exact = malloc(stream_size);
    memcpy(exact, stream, stream_size);
    uint64_t raw_size;
    assert_int_equal(h5twin_payload_raw_size(params, exact, stream_size, &raw_size), H5TWIN_OK);
    assert_true(raw_size == size);
    uint8_t *const back = malloc(size + 1);
    back[size] = 0xA5;
    if (h5twin_decode_payload(params, NULL, back, size, exact, stream_size) != H5TWIN_OK ||
        (size != 0 && memcmp(back, src, size) != 0) || back[size] != 0xA5) {
        fail_msg("%s does not decode %zu bytes of %u", spec, size, params->element_size);
    }
    free(stream);
    free(exact);
    free(back);
}

static void
all_sizes_and_words_come_back(void **unused)
{
    (void)unused;
    static const size_t counts[] = {0,    1,    2,    31,    32,    33,    63,    64,    65,
                                    127,  128,  129,  1023,  1024,  1025,  4095,  4096,  4097,
                                    8191, 8192, 8193, 16383, 16384, 16385, 65535, 65536, 65537};
    uint8_t *const src = malloc(65537 * 8 + 1);
    for (unsigned word_size = 1; word_size <= 8; word_size *= 2) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            const size_t size = counts[i] * word_size;
            struct h5twin_params params;
            h5twin_params_init(&params, H5TWIN_E2MC);
            h5twin_params_set_array(&params, word_size < 4 ? H5TWIN_INTEGER : H5TWIN_FLOAT,
                                    word_size, 0, NULL);
            for (unsigned kind = 1; kind < 4; kind++) {
                fill_data(src + 1, size, word_size, kind);
                check_round_trip(&params, src + 1, size, "default"); /* unaligned, too */
            }
        }
    }
    free(src);
}

static void
random_parameters_come_back(void **unused)
{
    (void)unused;
    uint8_t *const src = malloc(70000);
    for (unsigned i = 0; i < 1500; i++) {
        const unsigned word_size = 1u << random_below(4);
        const size_t size = random_below(random_below(8) ? 6000 : 70000) / word_size * word_size +
                            (random_below(16) == 0 ? random_below(word_size) : 0);
        struct h5twin_params params;
        char spec[300];
        random_params(&params, word_size, spec);
        fill_data(src, size, word_size, random_below(DATA_KINDS));
        check_round_trip(&params, src, size, spec);
    }
    free(src);
}

static void
arrays_of_4_gib_are_refused(void **unused)
{
    (void)unused;
    struct h5twin_params params;
    h5twin_params_init(&params, H5TWIN_E2MC);
    h5twin_params_set_array(&params, H5TWIN_FLOAT, 4, 0, NULL);
    assert_true(h5twin_bound(&params, UINT32_MAX - 3) > UINT32_MAX);
    assert_true(h5twin_bound(&params, (size_t)UINT32_MAX + 1) == 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_sizes_and_words_come_back),
        cmocka_unit_test(random_parameters_come_back),
        cmocka_unit_test(arrays_of_4_gib_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
