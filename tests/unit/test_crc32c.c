/* SPDX-License-Identifier: BSD-3-Clause
 * test_crc32c.c: every variant of codec/common/crc32c.h against published values and a bitwise
 * model. */
#include "common/crc32c.h"
#include "cpu.h"

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
    for (unsigned at = 0; h5twin_kernels_at(at) != NULL; at++) {
        uint32_t (*const crc32c)(uint32_t, const uint8_t *, size_t) = h5twin_kernels_at(at)->crc32c;
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

/* Beyond three lanes of the interleaved variant. */
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
    static const size_t sizes[] = {0,    1,     7,     8,     9,     63,    64,    65,
                                   4095, 12287, 12288, 12289, 24575, 24576, 24583, 40000};
    for (unsigned at = 0; h5twin_kernels_at(at) != NULL; at++) {
        uint32_t (*const crc32c)(uint32_t, const uint8_t *, size_t) = h5twin_kernels_at(at)->crc32c;
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const uint8_t *const src = bytes + i % 8;
            const uint32_t expected = crc_by_bits(0, src, sizes[i]);
            assert_int_equal(crc32c(0, src, sizes[i]), expected);
            const size_t cut = sizes[i] == 0 ? 0 : test_random(&seed) % sizes[i];
            assert_int_equal(crc32c(crc32c(0, src, cut), src + cut, sizes[i] - cut), expected);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_gives_the_values_of_rfc_3720),
        cmocka_unit_test(test_every_variant_agrees_at_any_size_address_and_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
