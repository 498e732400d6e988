/* SPDX-License-Identifier: BSD-3-Clause
 * test_chunk_shape.c: chunks that h5twin_chunk_shape() advises fit their array and a MiB. */
#include "h5twin.h"

#include "support.h"

#define MIB ((uint64_t)1 << 20)

struct array {
    uint32_t rank;
    uint64_t dims[8];
    size_t element_size;
};

/* Elements, or UINT64_MAX if they are more. */
static uint64_t
count(uint32_t rank, const uint64_t *dims)
{
    uint64_t product = 1;
    for (uint32_t axis = 0; axis < rank; axis++) {
        product = product > UINT64_MAX / dims[axis] ? UINT64_MAX : product * dims[axis];
    }
    return product;
}

static void
test_chunks_fit_the_array_and_are_a_part_of_a_mib(void **state)
{
    (void)state;
    static const struct array arrays[] = {
        {3, {1000, 2000, 3000}, 4},
        {3, {41, 128, 128}, 4},
        {1, {100000000}, 8},
        {3, {365, 720, 1440}, 8},
        {1, {5}, 4},
        {2, {1, 1}, 1},
        {2, {1000000, 3}, 4},
        {2, {3, 10000000}, 8},
        {1, {UINT64_MAX}, 8},
        {2, {UINT64_MAX, UINT64_MAX}, 1},
        {5, {4, 30, 50, 400, 500}, 4},
        {8, {9, 9, 9, 9, 9, 9, 9, 9}, 8},
        {3, {1, 4096, 4096}, 4},
        {2, {5000, 7000}, 8},
        {0, {0}, 8},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        const struct array *const array = &arrays[i];
        uint64_t chunk[8];
        h5twin_chunk_shape(array->rank, array->dims, array->element_size, chunk);
        for (uint32_t axis = 0; axis < array->rank; axis++) {
            assert_in_range(chunk[axis], 1, array->dims[axis]);
        }
        const uint64_t size = count(array->rank, chunk) * array->element_size;
        const uint64_t whole = count(array->rank, array->dims);
        assert_true(size <= MIB);
        assert_true(size == whole * array->element_size || size >= MIB / 8);
    }
}

static void
check(const struct array *array, const uint64_t *expected)
{
    uint64_t chunk[8];
    h5twin_chunk_shape(array->rank, array->dims, array->element_size, chunk);
    for (uint32_t axis = 0; axis < array->rank; axis++) {
        assert_int_equal(chunk[axis], expected[axis]);
    }
}

static void
test_axes_are_cut_at_multiples_of_block_sides(void **state)
{
    (void)state;
    check(&(struct array){3, {512, 512, 512}, 4}, (uint64_t[]){64, 64, 64});
    check(&(struct array){2, {5000, 7000}, 8}, (uint64_t[]){320, 256});
    check(&(struct array){1, {1000000}, 8}, (uint64_t[]){126976});
    check(&(struct array){3, {1, 4096, 4096}, 4}, (uint64_t[]){1, 512, 512});
}

/* Small numbers in sequence, the same everywhere. */
static uint64_t
next_number(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

/* HDF5 stores whole chunks: what they have beyond the array is written, too. */
static void
test_little_is_padded(void **state)
{
    (void)state;
    uint64_t seed = 1, chunk[8];
    for (unsigned i = 0; i < 20000; i++) {
        struct array array = {
            (uint32_t)next_number(&seed, 4) + 1, {0}, next_number(&seed, 2) == 0 ? 4 : 8};
        static const uint64_t longest[] = {50000000, 20000, 1500, 300};
        double padded = 1;
        for (uint32_t axis = 0; axis < array.rank; axis++) {
            array.dims[axis] = 1 + next_number(&seed, longest[array.rank - 1]);
        }
        h5twin_chunk_shape(array.rank, array.dims, array.element_size, chunk);
        for (uint32_t axis = 0; axis < array.rank; axis++) {
            const uint64_t dim = array.dims[axis];
            const uint64_t chunks = dim / chunk[axis] + (dim % chunk[axis] != 0);
            padded *= (double)(chunks * chunk[axis]) / (double)dim;
            /* Of an axis in n parts, n - 1 elements, or a 32nd. */
            assert_true(chunks * chunk[axis] - dim <= chunks - 1 + dim / 32);
        }
        assert_true(padded <= (array.rank < 4 ? 1.1 : 1.22));
        const uint64_t size = count(array.rank, chunk) * array.element_size;
        const uint64_t whole = count(array.rank, array.dims) * array.element_size;
        assert_true(size <= MIB && (size == whole || size >= MIB / 4));
    }
    check(&(struct array){3, {100, 100, 100}, 4}, (uint64_t[]){50, 50, 100});
    check(&(struct array){3, {60, 200, 300}, 8}, (uint64_t[]){60, 50, 38});
}

static void
test_empty_axes_count_as_one(void **state)
{
    (void)state;
    check(&(struct array){3, {0, 300, 300}, 4}, (uint64_t[]){1, 300, 300});
    check(&(struct array){1, {0}, 8}, (uint64_t[]){1});
}

static void
test_elements_may_be_of_any_size(void **state)
{
    (void)state;
    check(&(struct array){2, {100, 100}, 0}, (uint64_t[]){100, 100});
    check(&(struct array){2, {100, 100}, (size_t)1 << 30}, (uint64_t[]){1, 1});
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chunks_fit_the_array_and_are_a_part_of_a_mib),
        cmocka_unit_test(test_axes_are_cut_at_multiples_of_block_sides),
        cmocka_unit_test(test_little_is_padded),
        cmocka_unit_test(test_empty_axes_count_as_one),
        cmocka_unit_test(test_elements_may_be_of_any_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
