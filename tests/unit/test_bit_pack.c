/* SPDX-License-Identifier: BSD-3-Clause
 * test_bit_pack.c: every variant of codec/common/bit_pack.h against a bit-by-bit model. */
#include "common/bit_pack.h"
#include "isa.h"

#include "page_guard.h"

#include <string.h>

#define MAX_COUNT 300u

static const size_t counts[] = {0,  1,  2,  7,  8,  9,  15,  16,  17,
                                31, 32, 33, 63, 64, 65, 127, 128, 300};
#define COUNTS (sizeof counts / sizeof counts[0])

/* The definition: bit b of the string is bit b % 8 of byte b / 8. */
static void
pack_by_bits(uint8_t *dst, const uint64_t *words, size_t count, unsigned width_bits)
{
    memset(dst, 0, (count * width_bits + 7) / 8);
    for (size_t bit = 0; bit < count * width_bits; bit++) {
        const uint64_t set = words[bit / width_bits] >> (bit % width_bits) & 1u;
        dst[bit / 8] = (uint8_t)(dst[bit / 8] | set << (bit % 8));
    }
}

struct sample {
    uint64_t words[MAX_COUNT];
    uint32_t words32[MAX_COUNT];
    uint8_t packed[MAX_COUNT * 8];
    size_t packed_size;
};

static void
make_sample(struct sample *sample, size_t count, unsigned width_bits, uint64_t seed)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t mask = width_bits == 0 ? 0 : UINT64_MAX >> (64 - width_bits);
        /* all ones now and then, the hardest on neighbours */
        sample->words[i] = (i % 5 == 0 ? UINT64_MAX : test_random(&seed)) & mask;
        sample->words32[i] = (uint32_t)sample->words[i];
    }
    pack_by_bits(sample->packed, sample->words, count, width_bits);
    sample->packed_size = (count * width_bits + 7) / 8;
}

/* What may be written ends where its page does, and so do the words. */
static void
check_pack(const struct h5twin_bit_pack_kernels *packers, const struct sample *sample, size_t count,
           unsigned width_bits, unsigned word_size, size_t room)
{
    const size_t writable = sample->packed_size + room, size = count * word_size;
    uint8_t *const dst = test_page_alloc(writable);
    uint8_t *const src =
        test_page_copy(word_size == 4 ? (const void *)sample->words32 : sample->words, size);
    const size_t packed_size =
        word_size == 4
            ? packers->pack32(dst, writable, (const uint32_t *)(void *)src, count, width_bits)
            : packers->pack64(dst, writable, (const uint64_t *)(void *)src, count, width_bits);
    assert_int_equal(packed_size, sample->packed_size);
    assert_memory_equal(dst, sample->packed, packed_size);
    test_page_free(dst, writable);
    test_page_free(src, size);
}

static void
check_unpack_at(const struct h5twin_bit_pack_kernels *packers, const struct sample *sample,
                size_t count, unsigned width_bits, unsigned word_size, enum test_edge edge)
{
    const size_t size = count * word_size;
    uint8_t *const src = test_edge_copy(sample->packed, sample->packed_size, edge);
    uint8_t *const dst = test_edge_alloc(size, edge);
    if (word_size == 4) {
        packers->unpack32((uint32_t *)(void *)dst, count, width_bits, src);
        assert_memory_equal(dst, sample->words32, size);
    } else {
        packers->unpack64((uint64_t *)(void *)dst, count, width_bits, src);
        assert_memory_equal(dst, sample->words, size);
    }
    test_edge_free(src, sample->packed_size, edge);
    test_edge_free(dst, size, edge);
}

static void
check_unpack(const struct h5twin_bit_pack_kernels *packers, const struct sample *sample,
             size_t count, unsigned width_bits, unsigned word_size)
{
    check_unpack_at(packers, sample, count, width_bits, word_size, TEST_AT_END);
    check_unpack_at(packers, sample, count, width_bits, word_size, TEST_AT_BEGIN);
}

static void
check_all(unsigned word_size)
{
    static struct sample sample;
    for (unsigned width_bits = 0; width_bits <= 8 * word_size; width_bits++) {
        for (size_t i = 0; i < COUNTS; i++) {
            make_sample(&sample, counts[i], width_bits, width_bits * 1000 + i);
            for (unsigned at = 0; h5twin_isa_level_at(at) != NULL; at++) {
                const struct h5twin_bit_pack_kernels *const packers =
                    h5twin_bit_pack_kernels_for(h5twin_isa_level_at(at)->isa);
                check_pack(packers, &sample, counts[i], width_bits, word_size, 0);
                check_pack(packers, &sample, counts[i], width_bits, word_size, 63);
                check_pack(packers, &sample, counts[i], width_bits, word_size, 100);
                check_unpack(packers, &sample, counts[i], width_bits, word_size);
            }
        }
    }
}

static void
test_every_variant_packs_32_bit_words_by_definition(void **state)
{
    (void)state;
    check_all(4);
}

static void
test_every_variant_packs_64_bit_words_by_definition(void **state)
{
    (void)state;
    check_all(8);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_packs_32_bit_words_by_definition),
        cmocka_unit_test(test_every_variant_packs_64_bit_words_by_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
