/* SPDX-License-Identifier: BSD-3-Clause
 * test_crc32c.c: every variant of codec/common/crc32c.h against published values and a bitwise
 * model. */
#include "common/crc32c.h"
#include "isa.h"

#include "page_guard.h"

#include <string.h>

static uint32_t
crc_by_bits(uint32_t crc, const uint8_t *src, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= src[i];
        for (unsigned bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? 0x82F63B78u : 0u);
        }
    }
    return ~crc;
}

static void
test_every_variant_gives_the_values_of_rfc_3720(void **state)
{
    (void)state;
    uint8_t zeros[32] = {0}, ones[32], up[32], down[32];
    static const uint8_t read_command[48] = {[0] = 0x01,  [1] = 0xC0,  [16] = 0x14, [22] = 0x04,
                                             [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
    memset(ones, 0xFF, sizeof ones);
    for (unsigned i = 0; i < 32; i++) {
        up[i] = (uint8_t)i;
        down[i] = (uint8_t)(31 - i);
    }
    for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
        h5twin_crc32c *const crc32c =
            h5twin_crc32c_kernels_for(h5twin_isa_level_at(at)->isa)->crc32c;
        assert_int_equal(crc32c(0, zeros, 32), 0x8A9136AAu);
        assert_int_equal(crc32c(0, ones, 32), 0x62A8AB43u);
        assert_int_equal(crc32c(0, up, 32), 0x46DD794Eu);
        assert_int_equal(crc32c(0, down, 32), 0x113FDB5Cu);
        assert_int_equal(crc32c(0, read_command, 48), 0xD9963A56u);
        assert_int_equal(crc32c(0, (const uint8_t *)"123456789", 9), 0xE3069283u);
        assert_int_equal(crc32c(0, zeros, 0), 0);
        for (unsigned byte = 0; byte < 256; byte++) {
            for (size_t place = 0; place < 9; place++) { /* each table of eight */
                uint8_t bytes[9] = {0};
                bytes[place] = (uint8_t)byte;
                assert_int_equal(crc32c(0, bytes, 9), crc_by_bits(0, bytes, 9));
                assert_int_equal(crc32c(0, bytes, 1), crc_by_bits(0, bytes, 1));
            }
        }
    }
}

/* Beyond three long lanes of the interleaved variant. */
#define LONG_BYTES 40000u

static void
test_every_variant_agrees_at_any_size_address_and_cut(void **state)
{
    (void)state;
    static uint8_t bytes[LONG_BYTES + 8];
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)test_random(&seed);
    }
    static const size_t sizes[] = {0,     1,     7,     8,     9,     63,    64,   65,   255,
                                   256,   511,   512,   513,   767,   768,   769,  1023, 1024,
                                   1025,  3071,  3072,  3073,  4095,  6144,  9215, 9216, 12287,
                                   12288, 12289, 15360, 24575, 24576, 24583, 40000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint32_t expected = crc_by_bits(0, bytes + i % 8, sizes[i]);
        for (unsigned edge = 0; edge < TEST_EDGES; edge++) {
            uint8_t *const src = test_edge_copy(bytes + i % 8, sizes[i], (enum test_edge)edge);
            for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
                h5twin_crc32c *const crc32c =
                    h5twin_crc32c_kernels_for(h5twin_isa_level_at(at)->isa)->crc32c;
                assert_int_equal(crc32c(0, src, sizes[i]), expected);
                assert_int_equal(crc32c(0, bytes + i % 8, sizes[i]), expected);
                const size_t cut = sizes[i] == 0 ? 0 : test_random(&seed) % sizes[i];
                assert_int_equal(crc32c(crc32c(0, src, cut), src + cut, sizes[i] - cut), expected);
            }
            test_edge_free(src, sizes[i], (enum test_edge)edge);
        }
    }
}

static void
test_pieces_are_put_together_from_their_own_crcs(void **state)
{
    (void)state;
    static uint8_t bytes[70000];
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)test_random(&seed);
    }
    static const size_t cuts[] = {0, 1, 2, 3, 255, 256, 4096, 16384, 65535, 65536, 69999, 70000};
    const uint32_t expected = h5twin_crc32c_scalar(0, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        const size_t rest = sizeof bytes - cuts[i];
        const uint32_t first = h5twin_crc32c_scalar(0, bytes, cuts[i]);
        const uint32_t second = h5twin_crc32c_scalar(0, bytes + cuts[i], rest);
        for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
            assert_int_equal(
                h5twin_crc32c_kernels_for(h5twin_isa_level_at(at)->isa)->shift(first, rest) ^
                    second,
                expected);
        }
    }
}

/* Adding a + b bytes is adding a, then b: where neither fits 32 bits, too. */
static void
test_shifts_add_up_and_have_an_inverse(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0,
                                     1,
                                     7,
                                     0x7FFFFFFE,
                                     0x7FFFFFFF,
                                     0x80000000,
                                     0xFFFFFFFF,
                                     UINT64_C(5) << 32,
                                     UINT64_C(0x123456789ABC)};
    const uint32_t crc = 0x12345678u;
    for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
        h5twin_crc32c_shift *const shift =
            h5twin_crc32c_kernels_for(h5twin_isa_level_at(at)->isa)->shift;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const uint32_t shifted = shift(crc, sizes[i]);
            assert_int_equal(shifted, h5twin_crc32c_shift_scalar(crc, sizes[i]));
            assert_int_equal(shift(shifted, h5twin_crc32c_back(sizes[i])), crc);
            for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
                assert_int_equal(shift(shifted, sizes[k]), shift(crc, sizes[i] + sizes[k]));
            }
        }
        assert_int_not_equal(shift(crc, UINT64_C(1) << 32), crc);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_gives_the_values_of_rfc_3720),
        cmocka_unit_test(test_every_variant_agrees_at_any_size_address_and_cut),
        cmocka_unit_test(test_pieces_are_put_together_from_their_own_crcs),
        cmocka_unit_test(test_shifts_add_up_and_have_an_inverse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
