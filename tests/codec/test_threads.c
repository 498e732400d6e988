/* SPDX-License-Identifier: BSD-3-Clause
 * test_threads.c: many callers at once, callers in forked children, and what the environment may
 * say about threads. Also run under ThreadSanitizer by run.sh. */
#include "support.h"

#include "codec.h"
#include "common/parallel.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLERS     8u
#define SOURCE_SIZE ((size_t)3 * H5TWIN_BYTES_PER_THREAD + 13568) /* three threads per call */

static const struct h5twin_exec four_threads = {.threads = 4};

/* What one call needs, prepared so that threads and children do nothing else. */
struct caller {
    struct h5twin_params params;
    uint8_t *values, *expected, *chunk, *back;
    size_t capacity, expected_size;
    bool passed;
};

static void
caller_init(struct caller *caller, const char *spec, enum test_pattern pattern, uint64_t seed)
{
    *caller = (struct caller){.passed = false};
    assert_int_equal(test_params(&caller->params, spec, "f32", "-"), H5TWIN_OK);
    caller->capacity = h5twin_bound(&caller->params, SOURCE_SIZE);
    caller->values = test_alloc(SOURCE_SIZE);
    caller->back = test_alloc(SOURCE_SIZE);
    caller->expected = test_alloc(caller->capacity);
    caller->chunk = test_alloc(caller->capacity);
    test_fill(caller->values, SOURCE_SIZE, 4, pattern, seed);
    const struct h5twin_exec one_thread = {.threads = 1};
    assert_int_equal(h5twin_encode(&caller->params, &one_thread, caller->expected, caller->capacity,
                                   caller->values, SOURCE_SIZE, &caller->expected_size),
                     H5TWIN_OK);
}

static void
caller_free(struct caller *caller)
{
    free(caller->values);
    free(caller->back);
    free(caller->expected);
    free(caller->chunk);
}

/* Encode and decode once; true if the bytes are those of a lone thread. */
static bool
call(struct caller *caller)
{
    size_t size = 0;
    if (h5twin_encode(&caller->params, &four_threads, caller->chunk, caller->capacity,
                      caller->values, SOURCE_SIZE, &size) != H5TWIN_OK ||
        size != caller->expected_size || memcmp(caller->chunk, caller->expected, size) != 0) {
        return false;
    }
    return h5twin_decode(&four_threads, caller->back, SOURCE_SIZE, caller->chunk, size, &size) ==
               H5TWIN_OK &&
           (caller->params.mode != H5TWIN_LOSSLESS ||
            memcmp(caller->back, caller->values, SOURCE_SIZE) == 0);
}

static void *
call_some_times(void *argument)
{
    struct caller *const caller = argument;
    caller->passed = true;
    for (unsigned i = 0; i < 3; i++) {
        caller->passed = call(caller) && caller->passed;
    }
    return NULL;
}

static void
test_callers_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct caller callers[CALLERS];
    pthread_t threads[CALLERS];
    unsigned spec_count = 0;
    while (test_spec_at(spec_count) != NULL) {
        spec_count++;
    }
    for (unsigned first = 0; first < spec_count; first += CALLERS) {
        for (unsigned i = 0; i < CALLERS; i++) {
            caller_init(&callers[i], test_spec_at((first + i) % spec_count), TEST_SMOOTH,
                        first + i);
        }
        for (unsigned i = 0; i < CALLERS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, call_some_times, &callers[i]), 0);
        }
        for (unsigned i = 0; i < CALLERS; i++) {
            pthread_join(threads[i], NULL);
        }
        for (unsigned i = 0; i < CALLERS; i++) {
            assert_true(callers[i].passed);
            caller_free(&callers[i]);
        }
    }
}

static void
test_chunks_that_do_not_shrink_do_not_depend_on_threads(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        struct caller caller;
        caller_init(&caller, spec, TEST_RANDOM, i);
        assert_true(call(&caller));
        if (caller.params.mode == H5TWIN_LOSSLESS) {
            struct h5twin_info info;
            assert_int_equal(h5twin_inspect(caller.chunk, caller.expected_size, &info), H5TWIN_OK);
            assert_true(info.stored_raw);
            caller.chunk[caller.expected_size / 2] ^= 1u;
            size_t size;
            assert_int_equal(h5twin_decode(&four_threads, caller.back, SOURCE_SIZE, caller.chunk,
                                           caller.expected_size, &size),
                             H5TWIN_ERR_CHECKSUM);
        }
        caller_free(&caller);
    }
}

/* The pool's threads do not exist in a child: it must not wait for them. */
static void
test_forked_children_encode_and_decode(void **state)
{
    (void)state;
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        struct caller caller;
        caller_init(&caller, spec, TEST_SMOOTH, i);
        assert_true(call(&caller)); /* the pool is running */
        const pid_t child = fork();
        if (child == 0) {
            alarm(60); /* a deadlock ends as a signal */
            _exit(call(&caller) ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
        assert_true(call(&caller)); /* the parent's pool is as it was */
        caller_free(&caller);
    }
}

static void
test_the_environment_sets_the_number_of_threads(void **state)
{
    (void)state;
    unsetenv("H5TWIN_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    const unsigned cores = h5twin_threads_available();
    assert_in_range(cores, 1, H5TWIN_MAX_THREADS);
    setenv("OMP_NUM_THREADS", "3,2", 1);
    assert_int_equal(h5twin_threads_available(), 3);
    setenv("H5TWIN_NUM_THREADS", "5", 1);
    assert_int_equal(h5twin_threads_available(), 5);
    setenv("H5TWIN_NUM_THREADS", "1000000", 1);
    assert_int_equal(h5twin_threads_available(), H5TWIN_MAX_THREADS);
    static const char *const nonsense[] = {"", "many", "-4", "0", "2x"};
    unsetenv("OMP_NUM_THREADS");
    for (size_t i = 0; i < TEST_LENGTH(nonsense); i++) {
        setenv("H5TWIN_NUM_THREADS", nonsense[i], 1);
        assert_int_equal(h5twin_threads_available(), cores);
    }
    unsetenv("H5TWIN_NUM_THREADS");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callers_do_not_disturb_each_other),
        cmocka_unit_test(test_chunks_that_do_not_shrink_do_not_depend_on_threads),
        cmocka_unit_test(test_forked_children_encode_and_decode),
        cmocka_unit_test(test_the_environment_sets_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
