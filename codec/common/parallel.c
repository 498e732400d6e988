/* SPDX-License-Identifier: BSD-3-Clause
 * parallel.c: the pool behind parallel.h. */
#define _GNU_SOURCE
#include "parallel.h"

#include "environment.h"
#include "platform.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Of a worker's stack: what the codecs need, 100 KiB at most, and as much again several times for a
 * build with sanitizers. The default is `ulimit -s`, which may be less, or gigabytes. */
#define WORKER_STACK_BYTES (1024u * 1024u)

/* A job lives on the stack of the caller of parallel_for or parallel_beside. */
struct parallel_job {
    void (*task)(void *context, size_t index);
    void *context;
    size_t shared_end;  /* indices from here on are the caller's */
    atomic_size_t next; /* first index that is not taken */
};

static struct {
    pthread_mutex_t owner;   /* held by the caller whose job the pool runs */
    pthread_mutex_t lock;    /* guards the rest */
    pthread_cond_t wake;     /* workers: a job with free places has come */
    pthread_cond_t finished; /* owner: the last worker has left the job */
    struct parallel_job *job;
    unsigned places; /* workers that may still join the job */
    unsigned inside; /* workers at work on the job */
    unsigned started;
} pool = {
    .owner = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .wake = PTHREAD_COND_INITIALIZER,
    .finished = PTHREAD_COND_INITIALIZER,
};

static _Atomic(pid_t) pool_process; /* the process that started the pool; 0: none yet */

/* After fork() the pool's threads do not exist and its mutexes may be held for ever. */
static bool
pool_is_lost(void)
{
    const pid_t process = atomic_load_explicit(&pool_process, memory_order_acquire);
    return process != 0 && process != getpid();
}

static unsigned
threads_from_environment(const char *name)
{
    const char *const text = getenv(name);
    if (text == NULL) {
        return 0;
    }
    char *end;
    const unsigned long threads = strtoul(text, &end, 10);
    /* OMP_NUM_THREADS may be a list, one number per nesting level: ours is the first. */
    if (end == text || (*end != '\0' && *end != ',') || text[0] == '-') {
        return 0;
    }
    return threads > H5TWIN_MAX_THREADS ? H5TWIN_MAX_THREADS : (unsigned)threads;
}

static unsigned
usable_cores(void)
{
#ifdef __linux__
    cpu_set_t cores;
    if (sched_getaffinity(0, sizeof cores, &cores) == 0) {
        return (unsigned)CPU_COUNT(&cores);
    }
#endif
    const long cores_online = h5twin_processor_count();
    return cores_online < 1 ? 1u : (unsigned)cores_online;
}

unsigned
h5twin_threads_available(void)
{
    if (pool_is_lost()) {
        return 1;
    }
    unsigned threads = threads_from_environment("H5TWIN_NUM_THREADS");
    if (threads == 0) {
        threads = threads_from_environment("OMP_NUM_THREADS");
    }
    if (threads == 0) {
        threads = usable_cores();
    }
    return threads > H5TWIN_MAX_THREADS ? H5TWIN_MAX_THREADS : threads;
}

static void
run_shared(struct parallel_job *job)
{
    for (;;) {
        const size_t index = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (index >= job->shared_end) {
            return;
        }
        job->task(job->context, index);
    }
}

static void *
worker_main(void *unused)
{
    (void)unused;
    struct h5twin_environment inherited; /* from whoever started the pool */
    h5twin_environment_hold(&inherited);
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.places == 0) {
            pthread_cond_wait(&pool.wake, &pool.lock);
        }
        struct parallel_job *const job = pool.job;
        pool.places--;
        pool.inside++;
        pthread_mutex_unlock(&pool.lock);
        run_shared(job);
        pthread_mutex_lock(&pool.lock);
        if (--pool.inside == 0) {
            pthread_cond_signal(&pool.finished);
        }
    }
    return NULL;
}

/* One more worker, if the system gives one. Called with pool.lock held. */
static bool
start_worker(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    const bool started = pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES) == 0 &&
                         pthread_create(&thread, &attributes, worker_main, NULL) == 0;
    pthread_attr_destroy(&attributes);
    if (started) {
        pthread_detach(thread);
    }
    return started;
}

/* Start workers until there are `wanted`. Fewer, if the system gives no more, is no error: the
 * caller does what no other thread does. Called with pool.lock held. */
static void
start_workers(unsigned wanted)
{
    if (pool.started >= wanted) {
        return;
    }
    h5twin_signals before;
    h5twin_signals_hold(&before);
    while (pool.started < wanted && start_worker()) {
        pool.started++;
    }
    h5twin_signals_release(&before);
}

int
h5twin_cancel_hold(void)
{
    int before = PTHREAD_CANCEL_ENABLE;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

void
h5twin_cancel_release(int before)
{
    (void)pthread_setcancelstate(before, NULL);
}

/* Whether the pool is this caller's until leave_pool. */
static bool
take_pool(void)
{
    return !pool_is_lost() && pthread_mutex_trylock(&pool.owner) == 0;
}

/* Let so many workers join the job. Returns what leave_pool takes: cancellation is held, as the job
 * must outlive its workers. */
static int
offer(struct parallel_job *job, unsigned workers)
{
    const int cancel = h5twin_cancel_hold();
    pid_t nobody = 0;
    atomic_compare_exchange_strong(&pool_process, &nobody, getpid());
    pthread_mutex_lock(&pool.lock);
    start_workers(workers);
    pool.job = job;
    pool.places = workers;
    pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    return cancel;
}

/* Workers that have not come yet need not; wait for those that have. */
static void
leave_pool(int cancel)
{
    pthread_mutex_lock(&pool.lock);
    pool.places = 0;
    while (pool.inside != 0) {
        pthread_cond_wait(&pool.finished, &pool.lock);
    }
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.owner);
    h5twin_cancel_release(cancel);
}

static size_t
at_most(size_t threads, size_t limit)
{
    const size_t most = limit < H5TWIN_MAX_THREADS ? limit : H5TWIN_MAX_THREADS;
    return threads < most ? threads : most;
}

void
h5twin_parallel_for(unsigned threads, size_t count, void (*task)(void *context, size_t index),
                    void *context)
{
    const size_t wanted = at_most(threads, count);
    if (wanted <= 1 || !take_pool()) {
        for (size_t index = 0; index < count; index++) {
            task(context, index);
        }
        return;
    }
    struct parallel_job job = {
        .task = task, .context = context, .shared_end = wanted < count ? count - 1 : count};
    atomic_init(&job.next, 1);
    const int cancel = offer(&job, (unsigned)wanted - 1);
    task(context, 0);
    run_shared(&job);
    for (size_t index = job.shared_end; index < count; index++) {
        task(context, index);
    }
    leave_pool(cancel); /* all indices are taken */
}

void
h5twin_parallel_beside(unsigned helpers, void (*helper)(void *context, size_t index),
                       void (*caller)(void *context), void *context)
{
    const size_t wanted = at_most(helpers, H5TWIN_MAX_THREADS - 1);
    if (wanted == 0 || !take_pool()) {
        caller(context);
        return;
    }
    struct parallel_job job = {.task = helper, .context = context, .shared_end = wanted};
    atomic_init(&job.next, 0);
    const int cancel = offer(&job, (unsigned)wanted);
    caller(context);
    leave_pool(cancel);
}
