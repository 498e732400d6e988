/* SPDX-License-Identifier: BSD-3-Clause
 * test_kept_memory.c: codec/common/kept_memory.h: memory is kept from one chunk to the next, large
 * room is not, and every thread has its own, which goes with it.
 *
 * The linker sends malloc, aligned_alloc and free of this executable's objects through the
 * functions below
 * (--wrap). */
#include "support.h"

#include "common/kept_memory.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_uint mallocs, frees;
static atomic_bool malloc_fails;

void *__real_malloc(size_t size);
void __real_free(void *block);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

void *
__wrap_malloc(size_t size)
{
    mallocs++;
    return malloc_fails ? NULL : __real_malloc(size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
    mallocs++;
    return malloc_fails ? NULL : __real_aligned_alloc(alignment, size);
}

void
__wrap_free(void *block)
{
    frees += block != NULL;
    __real_free(block);
}

/* Take room, write all of it, give it back; where it was. */
static void *
use(size_t size)
{
    void *const memory = h5twin_kept_take("chunk", size);
    if (memory != NULL) {
        memset(memory, 0x5A, size);
    }
    h5twin_kept_give_back(memory, size);
    return memory;
}

static void
test_room_is_kept_for_the_next_chunk_of_that_size_or_less(void **state)
{
    (void)state;
    void *const first = use(10000);
    assert_non_null(first);
    assert_int_equal((uintptr_t)first % _Alignof(max_align_t), 0);
    const unsigned before = mallocs;
    assert_ptr_equal(use(10000), first);
    assert_ptr_equal(use(1), first);
    assert_ptr_equal(use(0), first);
    assert_ptr_equal(use(10000), first);
    assert_int_equal(mallocs, before);
}

static void
test_room_grows_and_stays_grown(void **state)
{
    (void)state;
    use(1000);
    const unsigned mallocs_before = mallocs, frees_before = frees;
    void *const larger = use(1000000);
    assert_non_null(larger);
    assert_int_equal(mallocs, mallocs_before + 1);
    assert_int_equal(frees, frees_before + 1); /* the old room */
    assert_ptr_equal(use(1000), larger);
    assert_ptr_equal(use(1000000), larger);
    assert_int_equal(mallocs, mallocs_before + 1);
}

static void
test_each_use_has_its_own_room(void **state)
{
    (void)state;
    uint8_t *const chunk = h5twin_kept_take("chunk", 1000);
    uint8_t *const distances = h5twin_kept_take("distances", 1000);
    uint8_t *const places = h5twin_kept_take("places", 1000);
    assert_non_null(chunk);
    assert_non_null(distances);
    assert_non_null(places);
    memset(chunk, 1, 1000);
    memset(distances, 2, 1000);
    memset(places, 3, 1000);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(chunk[i] + 10 * distances[i] + 100 * places[i], 321);
    }
    h5twin_kept_give_back(places, 1000);
    h5twin_kept_give_back(distances, 1000);
    h5twin_kept_give_back(chunk, 1000);
    assert_ptr_equal(h5twin_kept_take("places", 1000), places);
    h5twin_kept_give_back(places, 1000);
}

static void
test_more_than_is_kept_is_freed_when_it_is_given_back(void **state)
{
    (void)state;
    void *const kept = use(1000);
    const unsigned mallocs_before = mallocs, frees_before = frees;
    void *const large = h5twin_kept_take("chunk", H5TWIN_KEPT_LIMIT + 1);
    assert_non_null(large);
    assert_ptr_not_equal(large, kept);
    assert_int_equal(mallocs, mallocs_before + 1);
    h5twin_kept_give_back(large, H5TWIN_KEPT_LIMIT + 1);
    assert_int_equal(frees, frees_before + 1);
    assert_ptr_equal(use(1000), kept); /* as if nothing had been */
}

static void
test_without_memory_there_is_no_room_until_there_is_some_again(void **state)
{
    (void)state;
    use(1000);
    malloc_fails = true;
    void *const small = h5twin_kept_take("chunk", H5TWIN_KEPT_LIMIT);
    h5twin_kept_give_back(small, H5TWIN_KEPT_LIMIT);
    void *const large = h5twin_kept_take("chunk", H5TWIN_KEPT_LIMIT + 1);
    h5twin_kept_give_back(large, H5TWIN_KEPT_LIMIT + 1);
    malloc_fails = false;
    assert_null(small);
    assert_null(large);
    assert_non_null(use(1000)); /* the room that was too small is gone, and not used again */
    assert_ptr_equal(use(1000), use(1000));
}

static void *
use_in_a_thread(void *size)
{
    return use(*(const size_t *)size);
}

static void
test_threads_have_their_own_room_and_free_it_when_they_end(void **state)
{
    (void)state;
    size_t size = 5000;
    uint8_t *const mine = h5twin_kept_take("chunk", size);
    memset(mine, 7, size);
    const unsigned mallocs_before = mallocs, frees_before = frees;
    for (unsigned i = 1; i <= 3; i++) {
        pthread_t thread;
        void *others;
        assert_int_equal(pthread_create(&thread, NULL, use_in_a_thread, &size), 0);
        assert_int_equal(pthread_join(thread, &others), 0);
        assert_non_null(others);
        assert_ptr_not_equal(others, mine);
        assert_int_equal(mallocs, mallocs_before + i);
        assert_int_equal(frees, frees_before + i);
    }
    assert_true(mine[0] == 7 && mine[size - 1] == 7);
    h5twin_kept_give_back(mine, size);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room_is_kept_for_the_next_chunk_of_that_size_or_less),
        cmocka_unit_test(test_room_grows_and_stays_grown),
        cmocka_unit_test(test_each_use_has_its_own_room),
        cmocka_unit_test(test_more_than_is_kept_is_freed_when_it_is_given_back),
        cmocka_unit_test(test_without_memory_there_is_no_room_until_there_is_some_again),
        cmocka_unit_test(test_threads_have_their_own_room_and_free_it_when_they_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
