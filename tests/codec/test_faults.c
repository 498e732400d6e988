/* SPDX-License-Identifier: BSD-3-Clause
 * test_faults.c: what a system may do to a program that encodes and decodes: refuse threads, give
 * little stack, cancel the caller. For memory see test_memory.c.
 *
 * Each case runs in a child, whose pool of threads starts anew; the linker sends its pthread_create
 * through the function below (--wrap). H5TWIN_TEST_ROUNDS repeats the random cases (1). */
#include "pool.h"
#include "support.h"

#include "codec.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOURCE_SIZE ((size_t)4 * H5TWIN_BYTES_PER_THREAD + 13568) /* four threads */
#define CHILD_LIMIT 120                                           /* seconds: a child that hangs */

static const struct h5twin_exec one_thread = {.device = H5TWIN_DEVICE_CPU, .threads = 1};
static const struct h5twin_exec four_threads = {.device = H5TWIN_DEVICE_CPU, .threads = 4};

static atomic_int creations_until_failure = INT_MAX;
static bool all_later_fail;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *context), void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *context), void *context);

int
__wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                      void *(*start)(void *context), void *context)
{
    const int left = atomic_fetch_sub(&creations_until_failure, 1);
    if (left == 0 || (left < 0 && all_later_fail)) {
        return EAGAIN;
    }
    return __real_pthread_create(thread, attributes, start, context);
}

/* ---- an array and the chunk that one thread makes of it ---- */

struct sample {
    struct h5twin_params params;
    uint8_t *values, *expected, *chunk, *back;
    size_t capacity, expected_size;
};

static void
sample_init(struct sample *sample, const char *spec, const char *type)
{
    assert_int_equal(test_params(&sample->params, spec, type, "-"), H5TWIN_OK);
    sample->capacity = h5twin_bound(&sample->params, SOURCE_SIZE);
    sample->values = test_alloc(SOURCE_SIZE);
    sample->back = test_alloc(SOURCE_SIZE);
    sample->expected = test_alloc(sample->capacity);
    sample->chunk = test_alloc(sample->capacity);
    test_fill(sample->values, SOURCE_SIZE, sample->params.element_size, TEST_SMOOTH, 5);
    assert_int_equal(h5twin_encode(&sample->params, &one_thread, sample->expected, sample->capacity,
                                   sample->values, SOURCE_SIZE, &sample->expected_size),
                     H5TWIN_OK);
}

static void
sample_free(struct sample *sample)
{
    free(sample->values);
    free(sample->back);
    free(sample->expected);
    free(sample->chunk);
}

/* Both ways; true if the bytes are those of a lone thread. */
static bool
sample_passes(struct sample *sample, const struct h5twin_exec *exec)
{
    size_t size = 0;
    memset(sample->back, 0, SOURCE_SIZE);
    return h5twin_encode(&sample->params, exec, sample->chunk, sample->capacity, sample->values,
                         SOURCE_SIZE, &size) == H5TWIN_OK &&
           size == sample->expected_size && memcmp(sample->chunk, sample->expected, size) == 0 &&
           h5twin_decode(exec, sample->back, SOURCE_SIZE, sample->chunk, size, &size) ==
               H5TWIN_OK &&
           (sample->params.mode != H5TWIN_LOSSLESS ||
            memcmp(sample->back, sample->values, SOURCE_SIZE) == 0);
}

/* test(sample) in a child for every spec, with one type or the other; it must return true. */
static void
for_each_sample_in_child(bool (*test)(struct sample *sample))
{
    const char *spec;
    for (unsigned i = 0; (spec = test_spec_at(i)) != NULL; i++) {
        const char *const type = i % 2 == 0 ? "f64" : "f32";
        struct sample sample;
        sample_init(&sample, spec, type);
        fflush(NULL);
        const pid_t child = fork();
        if (child == 0) {
            test_child_begin(CHILD_LIMIT);
            _exit(test(&sample) ? 0 : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0) {
            fail_msg("%s of %s: %s %d", spec, type, WIFSIGNALED(status) ? "signal" : "exit status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        }
        sample_free(&sample);
    }
}

static unsigned
rounds(void)
{
    const char *const text = getenv("H5TWIN_TEST_ROUNDS");
    const int asked = text == NULL ? 1 : atoi(text);
    return asked < 1 ? 1 : (unsigned)asked;
}

/* ---- threads that cannot be had ---- */

static bool
passes_with_failing_creation(struct sample *sample, int successes, bool all_later)
{
    creations_until_failure = successes;
    all_later_fail = all_later;
    /* Twice: what failed once is tried again. */
    return sample_passes(sample, &four_threads) && sample_passes(sample, &four_threads) &&
           creations_until_failure < successes;
}

static bool
passes_without_first(struct sample *sample)
{
    return passes_with_failing_creation(sample, 0, false);
}

static bool
passes_without_third(struct sample *sample)
{
    return passes_with_failing_creation(sample, 2, false);
}

static bool
passes_without_any(struct sample *sample)
{
    return passes_with_failing_creation(sample, 0, true);
}

static bool
passes_with_one(struct sample *sample)
{
    return passes_with_failing_creation(sample, 1, true);
}

static void
test_threads_that_cannot_be_had_change_nothing(void **state)
{
    (void)state;
    for_each_sample_in_child(passes_without_first);
    for_each_sample_in_child(passes_without_third);
    for_each_sample_in_child(passes_without_any);
    for_each_sample_in_child(passes_with_one);
}

/* ---- little stack ---- */

struct lone_call {
    struct sample *sample;
    bool passed;
};

static void *
call_alone(void *context)
{
    struct lone_call *const call = context;
    call->passed = sample_passes(call->sample, &four_threads);
    return NULL;
}

/* A caller with 128 KiB, as musl gives, and workers of a program under `ulimit -s 64`. */
static bool
passes_with_small_stacks(struct sample *sample)
{
    pthread_attr_t attributes;
    pthread_t thread;
    struct lone_call call = {.sample = sample};
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 * 1024);
    return pthread_create(&thread, &attributes, call_alone, &call) == 0 &&
           pthread_join(thread, NULL) == 0 && call.passed;
}

static void
test_callers_need_little_stack(void **state)
{
    (void)state;
    for_each_sample_in_child(passes_with_small_stacks);
}

/* ---- cancelled callers ---- */

static void *
call_for_ever(void *context)
{
    struct sample *const sample = context;
    for (;;) {
        if (!sample_passes(sample, &four_threads)) {
            return context; /* not PTHREAD_CANCELED */
        }
        pthread_testcancel();
    }
}

static bool
passes_when_cancelled(struct sample *sample)
{
    uint64_t random = sample->expected_size;
    for (unsigned i = 0; i < 4 * rounds(); i++) {
        pthread_t caller;
        void *result;
        const long nanoseconds = (long)(test_random(&random) % 15000000);
        if (pthread_create(&caller, NULL, call_for_ever, sample) != 0) {
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
        pthread_cancel(caller);
        if (pthread_join(caller, &result) != 0 || result != PTHREAD_CANCELED ||
            !sample_passes(sample, &four_threads) || !test_pool_works()) {
            return false;
        }
    }
    return true;
}

static void
test_callers_may_be_cancelled_at_any_time(void **state)
{
    (void)state;
    for_each_sample_in_child(passes_when_cancelled);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_that_cannot_be_had_change_nothing),
        cmocka_unit_test(test_callers_need_little_stack),
        cmocka_unit_test(test_callers_may_be_cancelled_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
