/* SPDX-License-Identifier: BSD-3-Clause
 * progress.c: see progress.h. */
#include "progress.h"

#include "posix.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>

#define BAR_WIDTH 30
#define PERIOD_S  0.1

void
h5twin_progress_begin(struct h5twin_progress *progress, bool wanted)
{
    *progress = (struct h5twin_progress){.shown = wanted && isatty(STDERR_FILENO) == 1};
    progress->started = h5twin_seconds(CLOCK_MONOTONIC);
    progress->printed = -PERIOD_S; // the first step is shown, however early
}

static void
print_line(const struct h5twin_progress *progress)
{
    char bar[BAR_WIDTH + 1];
    const double part = progress->total == 0 ? 1 : (double)progress->done / (double)progress->total;
    const double time = fmax(progress->printed - progress->started, 1e-9);
    for (int i = 0; i < BAR_WIDTH; i++) {
        bar[i] = (i + 0.5) / BAR_WIDTH < part ? '#' : '.';
    }
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r[%s] %3.0f %%  %.1f of %.1f MB, %.0f MB/s, %.0f s left  ", bar, 100 * part,
            (double)progress->done / 1e6, (double)progress->total / 1e6,
            (double)progress->done / time / 1e6, part > 0 ? time / part - time : 0);
    fflush(stderr);
}

void
h5twin_progress_add(struct h5twin_progress *progress, uint64_t bytes)
{
    progress->done += bytes;
    const double now = progress->shown ? h5twin_seconds(CLOCK_MONOTONIC) : 0;
    if (progress->shown && now - progress->printed >= PERIOD_S) {
        progress->printed = now;
        print_line(progress);
    }
}

void
h5twin_progress_clear(struct h5twin_progress *progress)
{
    if (progress->shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}
