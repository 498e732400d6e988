/* SPDX-License-Identifier: BSD-3-Clause
 * platform.h: what codec/ needs of POSIX and Windows has otherwise. Its threads are those of
 * mingw-w64, which are pthreads. */
#ifndef H5TWIN_COMMON_PLATFORM_H
#define H5TWIN_COMMON_PLATFORM_H

#include <signal.h>
#include <stdlib.h>

#ifdef _WIN32

#    include <pthread.h>
#    include <pthread_unistd.h>

typedef int h5twin_signals; /* there are none that a thread could take */

static inline void
h5twin_signals_hold(h5twin_signals *before)
{
    *before = 0;
}

static inline void
h5twin_signals_release(const h5twin_signals *before)
{
    (void)before;
}

static inline long
h5twin_processor_count(void)
{
    return pthread_num_processors_np();
}

/* free() takes it back, and so it is as aligned as malloc() has it. */
static inline void *
h5twin_allocate_aligned(size_t alignment, size_t size)
{
    (void)alignment;
    return malloc(size);
}

#else

#    include <unistd.h>

typedef sigset_t h5twin_signals;

/* Signals belong to the program's own threads: those that are started until release get none. */
static inline void
h5twin_signals_hold(h5twin_signals *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static inline void
h5twin_signals_release(const h5twin_signals *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static inline long
h5twin_processor_count(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN);
}

/* size is a multiple of alignment. */
static inline void *
h5twin_allocate_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

#endif
#endif
