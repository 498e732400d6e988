/* SPDX-License-Identifier: BSD-3-Clause
 * test_ndzip_twin.c: every variant of the block functions gives the scalar one's bytes, values and
 * verdicts, and predicts what the definition in ndzip_core.h does. */
#include "common/bytes.h"
#include "isa.h"
#include "ndzip/ndzip_block.h"
#include "ndzip_support.h"
#include "page_guard.h"

#include <stdio.h>

struct twin {
    h5twin_ndzip_encode_block *encode, *scalar_encode;
    h5twin_ndzip_decode_block *decode, *scalar_decode;
};

/* Both decoders on the same bytes, in buffers that end with their page: same status and, if OK,
 * same array. */
static void
check_decoders(const struct twin *twin, const struct h5twin_ndzip_grid *grid, size_t index,
               uint32_t entry, const uint8_t *stream, size_t size)
{
    const size_t array_size = grid->element_count * grid->word_size;
    uint8_t *const copy = test_page_copy(stream, size);
    uint8_t *const back = test_page_alloc(array_size);
    uint8_t *const scalar_back = test_page_alloc(array_size);
    const enum h5twin_status status = twin->decode(grid, index, entry, back, copy, size);
    assert_int_equal(twin->scalar_decode(grid, index, entry, scalar_back, copy, size), status);
    if (status == H5TWIN_OK) {
        assert_memory_equal(back, scalar_back, array_size);
    }
    test_page_free(copy, size);
    test_page_free(back, array_size);
    test_page_free(scalar_back, array_size);
}

static void
check_block(const struct twin *twin, const struct h5twin_ndzip_grid *grid, size_t index,
            const uint8_t *src)
{
    const size_t capacity = (NDZIP_BLOCK_ELEMENTS + NDZIP_MAX_GROUPS) * grid->word_size;
    uint8_t *const expected = malloc(capacity);
    uint32_t entry, other_entry;
    const size_t size = twin->scalar_encode(grid, index, expected, capacity, src, &entry);
    /* In a buffer of exactly the size, and in a large one, which other code paths use. */
    uint8_t *const exact = test_page_alloc(size), *const large = test_page_alloc(capacity);
    assert_int_equal(twin->encode(grid, index, exact, size, src, &other_entry), size);
    assert_int_equal(other_entry, entry);
    assert_memory_equal(exact, expected, size);
    assert_int_equal(twin->encode(grid, index, large, capacity, src, &other_entry), size);
    assert_memory_equal(large, expected, size);

    check_decoders(twin, grid, index, entry, exact, size);
    uint64_t state = size + 1;
    for (unsigned i = 0; i < 8; i++) {
        const size_t bit = support_random(&state) % (8 * size);
        exact[bit / 8] ^= (uint8_t)(1u << bit % 8);
        check_decoders(twin, grid, index, entry, exact, size);
        exact[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(expected);
    test_page_free(exact, size);
    test_page_free(large, capacity);
}

static void
check_array(const struct h5twin_ndzip_kernels *ops, unsigned kind, unsigned rank,
            const uint32_t extents[3])
{
    const struct h5twin_ndzip_kernels *const scalar = &h5twin_ndzip_kernels_scalar;
    const unsigned word_size = kind & 2u ? 8 : 4;
    const struct h5twin_ndzip_grid grid =
        h5twin_ndzip_make_grid((enum h5twin_ndzip_layout)(kind & 1u), rank, word_size, extents);
    const struct twin twin = {
        .encode = word_size == 4 ? ops->encode32 : ops->encode64,
        .scalar_encode = word_size == 4 ? scalar->encode32 : scalar->encode64,
        .decode = word_size == 4 ? ops->decode32 : ops->decode64,
        .scalar_decode = word_size == 4 ? scalar->decode32 : scalar->decode64,
    };
    const size_t array_size = grid.element_count * word_size;
    for (unsigned fill = 0; fill < 2 * FILL_COUNT; fill++) {
        const enum test_edge edge = fill < FILL_COUNT ? TEST_AT_END : TEST_AT_BEGIN;
        uint8_t *const src = test_edge_alloc(array_size, edge);
        support_fill(src, grid.element_count, word_size, (enum fill)(fill % FILL_COUNT));
        for (size_t index = 0; index < grid.block_count; index++) {
            check_block(&twin, &grid, index, src);
        }
        test_edge_free(src, array_size, edge);
    }
}

static void
test_every_variant_matches_scalar(void **unused)
{
    (void)unused;
    for (unsigned variant = 0; h5twin_isa_level_at(variant) != NULL; variant++) {
        const struct h5twin_isa_level *const level = h5twin_isa_level_at(variant);
        const struct h5twin_ndzip_kernels *const kernels = h5twin_ndzip_kernels_for(level->isa);
        print_message("variant %s\n", level->name);
        for (unsigned kind = 0; kind < 4; kind++) {
            check_array(kernels, kind, 1, (uint32_t[]){1, 1, 8200});
            check_array(kernels, kind, 1, (uint32_t[]){1, 1, 37});
            check_array(kernels, kind, 2, (uint32_t[]){1, 65, 67});
            check_array(kernels, kind, 2, (uint32_t[]){1, 64, 64});
            check_array(kernels, kind, 2, (uint32_t[]){1, 1, 130});
            /* Rows of 16, as in blocks of three axes, but more of them. */
            check_array(kernels, kind, 2, (uint32_t[]){1, 17, 16});
            check_array(kernels, kind, 2, (uint32_t[]){1, 70, 80});
            /* Clipped rows that lack a word of whole vectors. */
            check_array(kernels, kind, 2, (uint32_t[]){1, 70, 95});
            check_array(kernels, kind, 3, (uint32_t[]){17, 19, 35});
            check_array(kernels, kind, 3, (uint32_t[]){5, 32, 16});
            check_array(kernels, kind, 3, (uint32_t[]){33, 1, 3});
        }
    }
}

/* ---- prediction: kernels against the definition ---- */

static unsigned
count_ones(uint64_t word)
{
    unsigned count = 0;
    for (; word != 0; word &= word - 1) {
        count++;
    }
    return count;
}

static uint64_t
load_word(const uint8_t *at, unsigned word_size)
{
    return word_size == 4 ? h5twin_load32(at) : h5twin_load64(at);
}

/* Codes of one block by the definition, in the reference layout. */
static void
find_codes(uint64_t *codes, const uint8_t *src, unsigned word_size, const unsigned extent[3])
{
    static uint64_t rotated[NDZIP_BLOCK_ELEMENTS];
    for (size_t i = 0; i < NDZIP_BLOCK_ELEMENTS; i++) {
        rotated[i] = word_size == 4 ? h5twin_rotate_left32(h5twin_load32(src + 4 * i), 1)
                                    : h5twin_rotate_left64(h5twin_load64(src + 8 * i), 1);
    }
    for (size_t i = 0; i < NDZIP_BLOCK_ELEMENTS; i++) {
        const uint64_t residual = h5twin_ndzip_residual(rotated, extent, i);
        codes[i] = word_size == 4 ? h5twin_ndzip_map32((uint32_t)residual, H5TWIN_NDZIP_ONES)
                                  : h5twin_ndzip_map64(residual, H5TWIN_NDZIP_ONES);
    }
}

/* A group's head is the union of its codes; its columns, from the top bit on, are transposed, so
 * that each has as many ones as codes have that bit. */
static void
check_groups(const uint8_t *block, size_t size, const uint64_t *codes, unsigned word_size)
{
    const unsigned bits = 8 * word_size, groups = NDZIP_BLOCK_ELEMENTS / bits;
    const uint8_t *column = block + (size_t)groups * word_size;
    for (unsigned group = 0; group < groups; group++) {
        uint64_t head = 0;
        for (unsigned i = 0; i < bits; i++) {
            head |= codes[group * bits + i];
        }
        assert_int_equal(load_word(block + (size_t)group * word_size, word_size), head);
        for (unsigned bit = bits; bit-- > 0;) {
            unsigned ones = 0;
            for (unsigned i = 0; i < bits; i++) {
                ones += codes[group * bits + i] >> bit & 1u;
            }
            if (ones != 0) {
                assert_int_equal(count_ones(load_word(column, word_size)), ones);
                column += word_size;
            }
        }
    }
    assert_ptr_equal(column, block + size);
}

static void
test_kernels_predict_by_the_definition(void **unused)
{
    (void)unused;
    static const uint32_t shapes[3][3] = {{1, 1, 4096}, {1, 64, 64}, {16, 16, 16}};
    static uint64_t codes[NDZIP_BLOCK_ELEMENTS];
    uint8_t *const src = malloc(8 * NDZIP_BLOCK_ELEMENTS);
    uint8_t *const block = malloc(8 * (NDZIP_BLOCK_ELEMENTS + NDZIP_MAX_GROUPS));
    assert_non_null(src);
    assert_non_null(block);
    for (unsigned variant = 0; h5twin_isa_level_at(variant) != NULL; variant++) {
        const struct h5twin_ndzip_kernels *const kernels =
            h5twin_ndzip_kernels_for(h5twin_isa_level_at(variant)->isa);
        for (unsigned test = 0; test < 6 * FILL_COUNT; test++) {
            const unsigned rank = 1 + test % 3, word_size = test / 3 % 2 == 0 ? 4 : 8;
            const uint32_t *const shape = shapes[rank - 1];
            const struct h5twin_ndzip_grid grid =
                h5twin_ndzip_make_grid(H5TWIN_NDZIP_REFERENCE, rank, word_size, shape);
            const unsigned extent[3] = {shape[0], shape[1], shape[2]};
            uint32_t entry;
            support_fill(src, NDZIP_BLOCK_ELEMENTS, word_size, (enum fill)(test / 6));
            find_codes(codes, src, word_size, extent);
            const size_t size = (word_size == 4 ? kernels->encode32 : kernels->encode64)(
                &grid, 0, block, word_size * (NDZIP_BLOCK_ELEMENTS + NDZIP_MAX_GROUPS), src,
                &entry);
            check_groups(block, size, codes, word_size);
        }
    }
    free(src);
    free(block);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_variant_matches_scalar),
        cmocka_unit_test(test_kernels_predict_by_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
