/* SPDX-License-Identifier: BSD-3-Clause
 * test_byte_order.c: codec/common/byte_order.h and bytes.h. */
#include "common/byte_order.h"
#include "common/bytes.h"

#include "page_guard.h"

static void
check_swap(unsigned word_size, size_t size, enum test_edge edge)
{
    uint8_t *const src = test_edge_alloc(size, edge), *const dst = test_edge_alloc(size, edge);
    for (size_t i = 0; i < size; i++) {
        src[i] = (uint8_t)(i * 7 + 1);
    }
    uint8_t *const in_place = test_edge_copy(src, size, edge);
    h5twin_swap_words(dst, src, size, word_size);
    h5twin_swap_words(in_place, in_place, size, word_size);
    for (size_t i = 0; i < size; i++) {
        const size_t word = i / word_size;
        const size_t from =
            (word + 1) * word_size > size ? i : word * word_size + word_size - 1 - i % word_size;
        assert_int_equal(dst[i], src[from]);
        assert_int_equal(in_place[i], src[from]);
    }
    test_edge_free(src, size, edge);
    test_edge_free(dst, size, edge);
    test_edge_free(in_place, size, edge);
}

static void
test_swap_reverses_words_and_copies_the_rest(void **state)
{
    (void)state;
    for (unsigned word_size = 1; word_size <= 8; word_size *= 2) {
        for (size_t size = 0; size <= 80; size++) {
            check_swap(word_size, size, TEST_AT_END);
            check_swap(word_size, size, TEST_AT_BEGIN);
        }
    }
}

static void
test_loads_and_stores_are_little_endian_at_any_address(void **state)
{
    (void)state;
    for (unsigned offset = 0; offset < 8; offset++) {
        uint8_t bytes[16] = {0};
        h5twin_store64(bytes + offset, UINT64_C(0x0807060504030201));
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(bytes[offset + i], i + 1);
        }
        assert_true(h5twin_load64(bytes + offset) == UINT64_C(0x0807060504030201));
        assert_int_equal(h5twin_load32(bytes + offset), 0x04030201u);
        assert_int_equal(h5twin_load16(bytes + offset), 0x0201u);
        h5twin_store32(bytes + offset, 0xDDCCBBAAu);
        h5twin_store16(bytes + offset + 4, 0xFFEEu);
        assert_true(h5twin_load64(bytes + offset) == UINT64_C(0x0807FFEEDDCCBBAA));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_swap_reverses_words_and_copies_the_rest),
        cmocka_unit_test(test_loads_and_stores_are_little_endian_at_any_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
