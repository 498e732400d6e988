/* SPDX-License-Identifier: BSD-3-Clause
 * test_scratch_pool.c: no two tasks at work share a piece of working memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/scratch_pool.h"

struct work {
    struct h5twin_scratch_pool *pool;
    atomic_uint clashes;
};

static void
use_piece(void *context, size_t index)
{
    struct work *const work = context;
    atomic_size_t *const piece = h5twin_scratch_pool_take(work->pool);
    atomic_store(piece, index + 1);
    for (int i = 0; i < 1000; i++) {
        if (atomic_load(piece) != index + 1) {
            atomic_fetch_add(&work->clashes, 1);
        }
    }
    h5twin_scratch_pool_give_back(work->pool, piece);
}

static void
pieces_are_zero_at_first_and_keep_their_contents(void **unused)
{
    (void)unused;
    struct h5twin_scratch_pool pool;
    assert_int_equal(h5twin_scratch_pool_init(&pool, 2, 1000), H5TWIN_OK);
    uint8_t *const a = h5twin_scratch_pool_take(&pool);
    uint8_t *const b = h5twin_scratch_pool_take(&pool);
    assert_ptr_not_equal(a, b);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(a[i] | b[i], 0);
    }
    a[999] = 5;
    h5twin_scratch_pool_give_back(&pool, a);
    assert_ptr_equal(h5twin_scratch_pool_take(&pool), a);
    assert_int_equal(a[999], 5);
    h5twin_scratch_pool_destroy(&pool);
}

static void
pieces_of_the_callers_memory_stay_as_they_are(void **unused)
{
    (void)unused;
    struct h5twin_scratch_pool pool;
    uint8_t memory[200];
    memset(memory, 7, sizeof memory);
    h5twin_scratch_pool_init_in(&pool, 2, memory, 100);
    uint8_t *const a = h5twin_scratch_pool_take(&pool), *const b = h5twin_scratch_pool_take(&pool);
    assert_ptr_equal(a < b ? a : b, memory);
    assert_ptr_equal(a < b ? b : a, memory + 100);
    h5twin_scratch_pool_give_back(&pool, b);
    assert_ptr_equal(h5twin_scratch_pool_take(&pool), b);
    h5twin_scratch_pool_destroy(&pool);
    assert_int_equal(memory[0], 7);
    assert_int_equal(memory[199], 7);
}

static void
tasks_at_work_never_share_a_piece(void **unused)
{
    (void)unused;
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct h5twin_scratch_pool pool;
        assert_int_equal(h5twin_scratch_pool_init(&pool, threads, sizeof(atomic_size_t)),
                         H5TWIN_OK);
        struct work work = {.pool = &pool};
        h5twin_parallel_for(threads, 500, use_piece, &work);
        assert_int_equal(work.clashes, 0);
        h5twin_scratch_pool_destroy(&pool);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_at_first_and_keep_their_contents),
        cmocka_unit_test(pieces_of_the_callers_memory_stay_as_they_are),
        cmocka_unit_test(tasks_at_work_never_share_a_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
