/* SPDX-License-Identifier: BSD-3-Clause
 * test_parallel.c: codec/common/parallel.h: every index once, whoever calls, also after fork. */
#define _GNU_SOURCE /* setenv */
#include "common/parallel.h"

#include "page_guard.h"
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS 1000u

/* ---- first: the pool does not exist yet ---- */

#define STACK_OF_A_CODEC (160u * 1024u)

static void
use_stack(void *context, size_t index)
{
    volatile char frame[STACK_OF_A_CODEC];
    for (size_t at = 0; at < sizeof frame; at += 1024) {
        frame[at] = (char)index;
    }
    atomic_fetch_add((atomic_uint *)context, frame[1024] == (char)index);
}

/* As under `ulimit -s 64`, of which glibc makes the default. */
static void
test_workers_have_the_stack_that_codecs_need(void **state)
{
    (void)state;
#ifdef __GLIBC__
    pthread_attr_t before, small;
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 64 * 1024), 0);
    assert_int_equal(pthread_setattr_default_np(&small), 0);
    atomic_uint runs = 0;
    h5twin_parallel_for(4, 1000, use_stack, &runs);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&small);
    pthread_attr_destroy(&before);
    assert_int_equal(runs, 1000);
#else
    puts("SKIP: this C library has no default stack size to set");
    skip();
#endif
}

/* ---- each index once ---- */

struct tally {
    atomic_uint runs[MAX_TASKS];
};

static void
count_run(void *context, size_t index)
{
    struct tally *const tally = context;
    atomic_fetch_add(&tally->runs[index], 1);
}

static bool
each_ran_once(struct tally *tally, size_t count)
{
    for (size_t i = 0; i < MAX_TASKS; i++) {
        if (atomic_load(&tally->runs[i]) != (i < count ? 1u : 0u)) {
            return false;
        }
    }
    return true;
}

static void
test_every_index_runs_exactly_once(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 64, 999};
    for (unsigned threads = 1; threads <= H5TWIN_MAX_THREADS; threads = threads * 2 + 1) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct tally tally = {.runs = {0}};
            h5twin_parallel_for(threads, counts[i], count_run, &tally);
            assert_true(each_ran_once(&tally, counts[i]));
        }
    }
}

struct ends {
    pthread_t first, last;
};

static void
note_ends(void *context, size_t index)
{
    struct ends *const ends = context;
    if (index == 0) {
        ends->first = pthread_self();
    } else if (index == 99) {
        ends->last = pthread_self();
    }
}

static void
test_the_first_and_the_last_index_are_the_callers(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads++) {
        struct ends ends;
        h5twin_parallel_for(threads, 100, note_ends, &ends);
        assert_true(pthread_equal(ends.first, pthread_self()));
        assert_true(pthread_equal(ends.last, pthread_self()));
    }
}

struct outer {
    struct tally inner[8];
};

static void
run_inner(void *context, size_t index)
{
    struct outer *const outer = context;
    h5twin_parallel_for(4, 100, count_run, &outer->inner[index]);
}

static void
test_a_task_may_call_again(void **state)
{
    (void)state;
    static struct outer outer;
    h5twin_parallel_for(4, 8, run_inner, &outer);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(each_ran_once(&outer.inner[i], 100));
    }
}

static void *
call_many_times(void *result)
{
    bool *const ok = result;
    *ok = true;
    for (unsigned round = 0; round < 200; round++) {
        struct tally tally = {.runs = {0}};
        h5twin_parallel_for(3, 50, count_run, &tally);
        *ok = *ok && each_ran_once(&tally, 50);
    }
    return NULL;
}

static void
test_callers_do_not_disturb_each_other(void **state)
{
    (void)state;
    pthread_t callers[4];
    bool ok[4];
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&callers[i], NULL, call_many_times, &ok[i]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(callers[i], NULL), 0);
        assert_true(ok[i]);
    }
}

static void
test_a_forked_child_works_alone(void **state)
{
    (void)state;
    struct tally tally = {.runs = {0}};
    h5twin_parallel_for(4, 100, count_run, &tally); /* the pool exists */
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tally own = {.runs = {0}};
        alarm(60); /* rather than hang */
        h5twin_parallel_for(4, 100, count_run, &own);
        _exit(each_ran_once(&own, 100) && h5twin_threads_available() == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* ---- helpers beside a caller ---- */

struct beside {
    pthread_t caller;
    atomic_uint runs[8];
    bool ran;
};

static void
note_help(void *context, size_t index)
{
    struct beside *const beside = context;
    atomic_fetch_add(&beside->runs[index], 1);
    if (pthread_equal(beside->caller, pthread_self())) {
        atomic_fetch_add(&beside->runs[index], 100);
    }
}

static void
call_beside(void *context)
{
    struct beside *const beside = context;
    beside->ran = pthread_equal(beside->caller, pthread_self());
    h5twin_parallel_for(4, 8, note_help, &(struct beside){.caller = pthread_self()}); /* alone */
}

static void
test_helpers_are_other_threads_and_each_index_comes_at_most_once(void **state)
{
    (void)state;
    for (unsigned helpers = 0; helpers <= 8; helpers++) {
        for (unsigned round = 0; round < 50; round++) {
            struct beside beside = {.caller = pthread_self()};
            h5twin_parallel_beside(helpers, note_help, call_beside, &beside);
            assert_true(beside.ran);
            for (unsigned i = 0; i < 8; i++) {
                assert_in_range(beside.runs[i], 0, i < helpers ? 1 : 0);
            }
        }
    }
    assert_true(test_pool_works());
}

static void
wait_for_help(void *context)
{
    struct beside *const beside = context;
    alarm(60); /* rather than hang */
    while (beside->runs[0] + beside->runs[1] < 2) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    alarm(0);
}

static void
test_helpers_do_come(void **state)
{
    (void)state;
    struct beside beside = {.caller = pthread_self()};
    h5twin_parallel_beside(2, note_help, wait_for_help, &beside);
    assert_int_equal(beside.runs[0] + beside.runs[1], 2);
}

/* ---- cancelled callers ---- */

struct meeting {
    atomic_int arrived, let_go;
};

static void
nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void
wait_to_be_let_go(void *context, size_t index)
{
    struct meeting *const meeting = context;
    atomic_fetch_add(&meeting->arrived, 1);
    while (index == 1 && atomic_load(&meeting->let_go) == 0) {
        nap();
    }
}

static void *
wait_for_a_worker(void *context)
{
    h5twin_parallel_for(2, 2, wait_to_be_let_go, context);
    pthread_testcancel();
    return NULL;
}

static void
test_a_cancelled_caller_still_waits_for_its_workers(void **state)
{
    (void)state;
    alarm(60); /* rather than hang */
    for (unsigned i = 0; i < 5; i++) {
        struct meeting meeting = {.arrived = 0};
        pthread_t caller;
        void *result;
        assert_int_equal(pthread_create(&caller, NULL, wait_for_a_worker, &meeting), 0);
        while (atomic_load(&meeting.arrived) < 2) {
            nap();
        }
        nap(); /* it waits now, or soon */
        assert_int_equal(pthread_cancel(caller), 0);
        nap();
        atomic_store(&meeting.let_go, 1);
        assert_int_equal(pthread_join(caller, &result), 0);
        assert_ptr_equal(result, PTHREAD_CANCELED); /* after, not never */
        assert_true(test_pool_works());
    }
    alarm(0);
}

static unsigned
available_with(const char *own, const char *openmp)
{
    unsetenv("H5TWIN_NUM_THREADS");
    unsetenv("OMP_NUM_THREADS");
    if (own != NULL) {
        setenv("H5TWIN_NUM_THREADS", own, 1);
    }
    if (openmp != NULL) {
        setenv("OMP_NUM_THREADS", openmp, 1);
    }
    return h5twin_threads_available();
}

static void
test_environment_chooses_the_number_of_threads(void **state)
{
    (void)state;
    const unsigned cores = available_with(NULL, NULL);
    assert_in_range(cores, 1, H5TWIN_MAX_THREADS);
    assert_int_equal(available_with("3", "5"), 3);
    assert_int_equal(available_with(NULL, "5"), 5);
    assert_int_equal(available_with(NULL, "6,2"), 6);
    assert_int_equal(available_with("0", "5"), 5);
    assert_int_equal(available_with("many", "-2"), cores);
    assert_int_equal(available_with("99999999999999999999", NULL), H5TWIN_MAX_THREADS);
    available_with(NULL, NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workers_have_the_stack_that_codecs_need),
        cmocka_unit_test(test_every_index_runs_exactly_once),
        cmocka_unit_test(test_the_first_and_the_last_index_are_the_callers),
        cmocka_unit_test(test_a_task_may_call_again),
        cmocka_unit_test(test_callers_do_not_disturb_each_other),
        cmocka_unit_test(test_helpers_are_other_threads_and_each_index_comes_at_most_once),
        cmocka_unit_test(test_helpers_do_come),
        cmocka_unit_test(test_a_cancelled_caller_still_waits_for_its_workers),
        cmocka_unit_test(test_a_forked_child_works_alone),
        cmocka_unit_test(test_environment_chooses_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
