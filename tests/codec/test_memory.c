/* SPDX-License-Identifier: BSD-3-Clause
 * test_memory.c: every allocation of every codec fails once, through the API and the filter.
 *
 * The linker sends the allocations of this executable's objects through the functions below
 * (--wrap); those of the system's libraries are not touched. */
#include "support.h"

#include "codec.h"
#include "hdf5_abi.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_SIZE ((size_t)2 * H5TWIN_BYTES_PER_THREAD + 75712) /* two threads */
#ifdef H5TWIN_SANITIZED
#    define MANY  2
#    define TYPES "f64", "u8"
#else
#    define MANY  12
#    define TYPES "f32", "f64", "f64be", "u8"
#endif
#define NEVER (-1L)

static atomic_long until_failure = NEVER; /* allocations that succeed before one fails */
static atomic_bool has_failed;
static atomic_long live_blocks;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *block);

static bool
must_fail(void)
{
    if (until_failure == NEVER || atomic_fetch_sub(&until_failure, 1) != 0) {
        return false;
    }
    has_failed = true;
    return true;
}

static void *
counted(void *block)
{
    live_blocks += block != NULL;
    return block;
}

void *
__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : counted(__real_malloc(size));
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(__real_calloc(count, size));
}

void *
__wrap_realloc(void *block, size_t size)
{
    if (must_fail()) {
        return NULL;
    }
    void *const moved = __real_realloc(block, size);
    live_blocks += block == NULL && moved != NULL;
    return moved;
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return must_fail() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

void
__wrap_free(void *block)
{
    live_blocks -= block != NULL;
    __real_free(block);
}

/* ---- what is called with each allocation failing in turn ---- */

struct call {
    struct h5twin_params params;
    struct h5twin_exec exec;
    const struct h5twin_hdf5_class *filter;
    uint8_t *src, *chunk, *back;
    size_t capacity, chunk_size;
};

static enum h5twin_status
encode(struct call *call)
{
    size_t size = SIZE_MAX;
    const enum h5twin_status status = h5twin_encode(&call->params, &call->exec, call->chunk,
                                                    call->capacity, call->src, SOURCE_SIZE, &size);
    assert_true(status == H5TWIN_OK ? size == call->chunk_size : size == SIZE_MAX);
    return status;
}

static enum h5twin_status
decode(struct call *call)
{
    size_t size = SIZE_MAX;
    const enum h5twin_status status =
        h5twin_decode(&call->exec, call->back, SOURCE_SIZE, call->chunk, call->chunk_size, &size);
    assert_true(size == (status == H5TWIN_OK ? SOURCE_SIZE : SIZE_MAX));
    return status;
}

/* Run the filter on a copy of bytes. On failure it must leave HDF5's buffer alone. */
static enum h5twin_status
filter(struct call *call, unsigned flags, const uint8_t *bytes, size_t size)
{
    const long until = atomic_exchange(&until_failure, NEVER);
    size_t buffer_size = size;
    uint8_t *const copy = malloc(size);
    void *buffer = copy;
    memcpy(buffer, bytes, size);
    until_failure = until;
    const size_t result = call->filter->filter(flags, 0, NULL, size, &buffer_size, &buffer);
    if (result == 0) {
        assert_ptr_equal(buffer, copy);
        assert_int_equal(buffer_size, size);
        assert_memory_equal(buffer, bytes, size);
    }
    free(buffer);
    return result == 0 ? H5TWIN_ERR_MEMORY : H5TWIN_OK;
}

static enum h5twin_status
filter_write(struct call *call)
{
    return filter(call, 0, call->src, SOURCE_SIZE);
}

static enum h5twin_status
filter_read(struct call *call)
{
    return filter(call, H5TWIN_HDF5_FLAG_REVERSE, call->chunk, call->chunk_size);
}

struct attempt {
    enum h5twin_status (*function)(struct call *call);
    struct call *call;
    long until_failure;
    long allocations; /* that it asked for */
    enum h5twin_status status;
};

static void *
attempt(void *context)
{
    struct attempt *const attempt = context;
    until_failure = attempt->until_failure;
    attempt->status = attempt->function(attempt->call);
    attempt->allocations = attempt->until_failure - until_failure;
    until_failure = NEVER;
    return NULL;
}

/* In a thread that has kept no memory of calls before, and frees what it keeps. */
static struct attempt
attempt_afresh(enum h5twin_status (*function)(struct call *call), struct call *call, long n)
{
    struct attempt context = {.function = function, .call = call, .until_failure = n};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, attempt, &context), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return context;
}

/* Of many allocations only some fail, evenly spread, unless H5TWIN_TEST_LONG is set: each attempt
 * takes as long as all the work before it. */
static long
step_between_failures(enum h5twin_status (*function)(struct call *call), struct call *call)
{
    const long allocations = attempt_afresh(function, call, LONG_MAX / 2).allocations;
    return getenv("H5TWIN_TEST_LONG") != NULL || allocations < MANY ? 1 : allocations / MANY + 1;
}

/* Let the first, second, ... allocation fail until there are no more. A codec may do without the
 * block it did not get; else it must say so. */
static void
fail_each(enum h5twin_status (*function)(struct call *call), struct call *call)
{
    const long step = step_between_failures(function, call);
    for (long n = 0;; n += step) {
        const long before = live_blocks;
        has_failed = false;
        const enum h5twin_status status = attempt_afresh(function, call, n).status;
        assert_int_equal(live_blocks, before);
        if (!has_failed) {
            assert_int_equal(status, H5TWIN_OK);
            return;
        }
        assert_true(status == H5TWIN_OK || status == H5TWIN_ERR_MEMORY);
    }
}

static void
for_each_stream(void (*test)(struct call *call))
{
    static const char *const types[] = {TYPES};
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        for (size_t t = 0; t < TEST_LENGTH(types); t++) {
            struct call call = {.exec = {.device = H5TWIN_DEVICE_CPU}};
            const bool is_big = strcmp(types[t], "f64be") == 0;
            assert_int_equal(test_params(&call.params, spec, is_big ? "f64" : types[t], "-"),
                             H5TWIN_OK);
            call.params.big_endian = is_big;
            call.filter = h5twin_hdf5_class(call.params.codec);
            call.capacity = h5twin_bound(&call.params, SOURCE_SIZE);
            call.src = test_alloc(SOURCE_SIZE);
            call.back = test_alloc(SOURCE_SIZE);
            call.chunk = test_alloc(call.capacity);
            test_fill(call.src, SOURCE_SIZE, call.params.element_size, TEST_SMOOTH, i);
            for (call.exec.threads = 1; call.exec.threads <= 2; call.exec.threads++) {
                assert_int_equal(h5twin_encode(&call.params, &call.exec, call.chunk, call.capacity,
                                               call.src, SOURCE_SIZE, &call.chunk_size),
                                 H5TWIN_OK);
                test(&call);
            }
            free(call.src);
            free(call.back);
            free(call.chunk);
        }
    }
}

static void
test_encode(struct call *call)
{
    fail_each(encode, call);
}

static void
test_decode(struct call *call)
{
    fail_each(decode, call);
}

static void
test_filter(struct call *call)
{
    filter_write(call); /* what it remembers of its caller stays allocated */
    fail_each(filter_write, call);
    filter_read(call);
    fail_each(filter_read, call);
}

static void
test_encoders_survive_each_failed_allocation(void **state)
{
    (void)state;
    for_each_stream(test_encode);
}

static void
test_decoders_survive_each_failed_allocation(void **state)
{
    (void)state;
    for_each_stream(test_decode);
}

static void
test_filters_leave_the_buffer_alone_when_an_allocation_fails(void **state)
{
    (void)state;
    for_each_stream(test_filter);
}

/* The counting counts: DPratio needs memory of its own both ways, so its first allocation matters.
 */
static void
test_a_failed_allocation_is_reported(void **state)
{
    (void)state;
    struct call call = {.capacity = 0};
    assert_int_equal(test_params(&call.params, "fpcompress:mode=ratio", "f64", "-"), H5TWIN_OK);
    call.capacity = h5twin_bound(&call.params, SOURCE_SIZE);
    call.src = test_alloc(SOURCE_SIZE);
    call.back = test_alloc(SOURCE_SIZE);
    call.chunk = test_alloc(call.capacity);
    test_fill(call.src, SOURCE_SIZE, 8, TEST_SMOOTH, 1);
    assert_int_equal(h5twin_encode(&call.params, NULL, call.chunk, call.capacity, call.src,
                                   SOURCE_SIZE, &call.chunk_size),
                     H5TWIN_OK);
    assert_int_equal(attempt_afresh(decode, &call, 0).status, H5TWIN_ERR_MEMORY);
    assert_int_equal(attempt_afresh(encode, &call, 0).status, H5TWIN_ERR_MEMORY);
    free(call.src);
    free(call.back);
    free(call.chunk);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_failed_allocation_is_reported),
        cmocka_unit_test(test_encoders_survive_each_failed_allocation),
        cmocka_unit_test(test_decoders_survive_each_failed_allocation),
        cmocka_unit_test(test_filters_leave_the_buffer_alone_when_an_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
