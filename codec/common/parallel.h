/* SPDX-License-Identifier: BSD-3-Clause
 * parallel.h: run independent tasks on a small pool of sleeping threads.
 *
 * An own pool instead of OpenMP, because this code lives inside other people's processes: libgomp's
 * threads spin after every region, its static TLS can keep a plugin from loading, and it hangs in
 * a forked child. Here nothing is started before the first call that pays, idle threads sleep, a
 * forked child runs alone, and a caller who finds the pool busy does its own work itself. */
#ifndef H5TWIN_COMMON_PARALLEL_H
#define H5TWIN_COMMON_PARALLEL_H

#include <stddef.h>

#define H5TWIN_MAX_THREADS 64

/* H5TWIN_NUM_THREADS, else OMP_NUM_THREADS, else the cores this process may use; 1..MAX_THREADS.
 * 1 in a child forked after the pool was started. */
unsigned h5twin_threads_available(void);

/* Call task(context, index) once for each index below count, on at most `threads` threads, the
 * caller's included. Returns when all calls have returned. Index 0 is the caller's, and where there
 * are more indices than threads so is the last one: a caller who has nothing left to do would
 * sleep, and wake late. Which thread runs another is not defined: tasks must not depend on it. */
void h5twin_parallel_for(unsigned threads, size_t count, void (*task)(void *context, size_t index),
                         void *context);

/* Call helper(context, index) for some indices below `helpers`, each at most once, on threads of
 * the pool, while the calling thread runs caller(context). Returns when all of them have returned.
 * None may ever come, as where the pool is busy: the caller must be able to do all the work, and
 * helpers must return once there is none, or will be none. */
void h5twin_parallel_beside(unsigned helpers, void (*helper)(void *context, size_t index),
                            void (*caller)(void *context), void *context);

/* From hold to release, a pthread_cancel of the calling thread waits: it would leave locks held and
 * memory lost. They nest; release takes what hold returned. */
int h5twin_cancel_hold(void);
void h5twin_cancel_release(int before);

#endif
