/* SPDX-License-Identifier: BSD-3-Clause
 * timing.h: reading a clock, and putting times in order for their median and quartiles; for the
 * command and for the benchmarks. Needs POSIX from the includer. */
#ifndef H5TWIN_TOOLS_TIMING_H
#define H5TWIN_TOOLS_TIMING_H

#include <stdlib.h>
#include <time.h>

static inline double
h5twin_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int
h5twin_compare_times(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Shortest first. */
static inline void
h5twin_sort_times(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, h5twin_compare_times);
}

#endif
