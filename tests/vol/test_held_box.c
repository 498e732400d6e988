/* SPDX-License-Identifier: BSD-3-Clause
 * test_held_box.c: vol/held_box.h against an array with a mark for each element. */
#include "held_box.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define SIDE   12u
#define RANK   3u
#define ROUNDS 400u

static uint64_t
below(uint64_t *random, uint64_t limit)
{
    return test_random(random) % limit;
}

static bool
has(const struct h5twin_held_extent *extent, const uint64_t *at)
{
    bool is_in = true;
    for (unsigned axis = 0; axis < RANK; axis++) {
        is_in = is_in && at[axis] >= extent->start[axis] &&
                at[axis] - extent->start[axis] < extent->count[axis];
    }
    return is_in;
}

/* The pieces cover what was put, nothing else, and the values are those put last. */
static void
check(const struct h5twin_held_box *box, const uint8_t *marks, const uint32_t *values)
{
    for (size_t i = 0; i < SIDE * SIDE * SIDE; i++) {
        const uint64_t at[RANK] = {i / (SIDE * SIDE), i / SIDE % SIDE, i % SIDE};
        const uint64_t in_file[RANK] = {at[0] + box->region.start[0], at[1] + box->region.start[1],
                                        at[2] + box->region.start[2]};
        bool is_covered = false;
        for (size_t k = 0; k < box->piece_count; k++) {
            is_covered = is_covered || has(&box->pieces[k], in_file);
        }
        assert_int_equal(is_covered, marks[i]);
        assert_true(!is_covered || memcmp(box->values + 4 * i, &values[i], 4) == 0);
    }
}

static void
test_any_pieces(void **state)
{
    (void)state;
    unsigned refused = 0, full = 0;
    uint32_t *const source = test_alloc((size_t)SIDE * SIDE * SIDE * 8 * 4);
    uint32_t *const values = test_alloc((size_t)SIDE * SIDE * SIDE * 4);
    uint8_t *const marks = test_alloc((size_t)SIDE * SIDE * SIDE);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t random = 100 + round;
        struct h5twin_held_box box = {.rank = RANK, .element_size = 4};
        box.values = test_alloc((size_t)SIDE * SIDE * SIDE * 4);
        for (unsigned axis = 0; axis < RANK; axis++) {
            box.region.start[axis] = SIDE * below(&random, 4);
            box.region.count[axis] = SIDE;
        }
        assert_int_equal(h5twin_held_region_size(&box), SIDE * SIDE * SIDE * 4);
        memset(marks, 0, (size_t)SIDE * SIDE * SIDE);
        const bool by_rows = round % 2 == 0;
        for (uint64_t step = 0; step < SIDE; step++) {
            struct h5twin_held_extent extent = box.region;
            for (unsigned axis = 0; axis < RANK; axis++) {
                if (by_rows ? axis == round / 2 % RANK : below(&random, 3) != 0) {
                    const uint64_t at = by_rows ? step : below(&random, SIDE);
                    extent.start[axis] += at;
                    extent.count[axis] = by_rows ? 1 : 1 + below(&random, SIDE - at);
                }
            }
            for (size_t i = 0; i < (size_t)SIDE * SIDE * SIDE * 8; i++) {
                source[i] = (uint32_t)test_random(&random);
            }
            const uint64_t strides[RANK] = {4 * SIDE * SIDE, 2 * SIDE, 1 + below(&random, 2)};
            const size_t before = box.piece_count;
            if (!h5twin_held_put(&box, &extent, (const uint8_t *)source, strides)) {
                assert_true(before == H5TWIN_HELD_PIECES && box.piece_count == before);
                refused++;
                continue;
            }
            for (size_t i = 0; i < SIDE * SIDE * SIDE; i++) {
                const uint64_t at[RANK] = {i / (SIDE * SIDE) + box.region.start[0],
                                           i / SIDE % SIDE + box.region.start[1],
                                           i % SIDE + box.region.start[2]};
                if (has(&extent, at)) {
                    marks[i] = 1;
                    values[i] = source[(at[0] - extent.start[0]) * strides[0] +
                                       (at[1] - extent.start[1]) * strides[1] +
                                       (at[2] - extent.start[2]) * strides[2]];
                }
            }
            check(&box, marks, values);
        }
        const uint64_t most[RANK] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
        const bool is_full =
            box.piece_count == 1 && h5twin_held_covers(RANK, &box.pieces[0], &box.region, most);
        assert_true(!by_rows || is_full);
        full += is_full;
        free(box.values);
    }
    assert_true(refused > 0 && full >= ROUNDS / 2);
    free(source);
    free(values);
    free(marks);
}

static void
test_regions_and_edges(void **state)
{
    (void)state;
    const uint64_t chunk[] = {10, 64}, most[] = {UINT64_MAX, 100}, fixed[] = {25, 100};
    const struct h5twin_held_extent row = {{23, 0}, {1, 100}}, rows = {{20, 0}, {5, 100}};
    struct h5twin_held_extent region = {{0}, {0}};
    h5twin_held_region(2, chunk, &row, &region);
    assert_true(region.start[0] == 20 && region.count[0] == 10);
    assert_true(region.start[1] == 0 && region.count[1] == 128);
    assert_false(h5twin_held_covers(2, &rows, &region, most));
    assert_true(h5twin_held_covers(2, &rows, &region, fixed));
    const struct h5twin_held_box huge = {
        .rank = 2, .element_size = 8, .region = {{0, 0}, {UINT64_C(1) << 40, UINT64_C(1) << 40}}};
    assert_true(h5twin_held_region_size(&huge) == SIZE_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_pieces),
        cmocka_unit_test(test_regions_and_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
