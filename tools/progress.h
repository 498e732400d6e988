/* SPDX-License-Identifier: BSD-3-Clause
 * progress.h: a line on a terminal that says how far a long command is. */
#ifndef H5TWIN_TOOLS_PROGRESS_H
#define H5TWIN_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct h5twin_progress {
    bool shown;              /* stderr is a terminal, and it was not declined */
    uint64_t total, done;    /* bytes */
    double started, printed; /* seconds */
};

void h5twin_progress_begin(struct h5twin_progress *progress, bool wanted);

/* More bytes are done. */
void h5twin_progress_add(struct h5twin_progress *progress, uint64_t bytes);

/* Remove the line: before anything else is printed, and at the end. */
void h5twin_progress_clear(struct h5twin_progress *progress);

#endif
