/* SPDX-License-Identifier: BSD-3-Clause
 * pool.c: see pool.h. */
#include "pool.h"

#include "common/parallel.h"

#include <stdatomic.h>
#include <time.h>

#define PATIENCE_MS                                                                                \
    60000 /* only a pool that does not work, or a very busy machine, takes as long */

struct meeting {
    atomic_int arrived;
    bool met;
};

static void
meet(void *context, size_t index)
{
    struct meeting *const meeting = context;
    atomic_fetch_add(&meeting->arrived, 1);
    for (int i = 0; index == 0 && i < PATIENCE_MS && atomic_load(&meeting->arrived) < 2; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    if (index == 0) {
        meeting->met = atomic_load(&meeting->arrived) == 2;
    }
}

bool
test_pool_works(void)
{
    struct meeting meeting = {.met = false};
    h5twin_parallel_for(2, 2, meet, &meeting);
    return meeting.met;
}
