/* SPDX-License-Identifier: BSD-3-Clause
 * coded_ahead.h: chunks of a box that other threads encode while the calling thread is in a library
 * that will ask for them, one after the other.
 *
 * HDF5 over MPI writes filtered chunks in a collective call of its own, which hands the values of
 * each chunk to a filter. Those values are compared with what the box has, byte by byte: only the
 * encoded chunk of just these values is given out. So it does not matter which chunks HDF5 asks
 * for, in which order, or what it has made of them before. A chunk that is not found costs time.
 *
 * Order    chunks are encoded in row-major order of their offsets. Asked for in that order they are
 *          found at once; in another one by a table, which is made then.
 * Threads  those of codec/common/parallel.h. The calling thread encodes, too, when it asks for a
 *          chunk that is not ready.
 * Memory   at most the window, and about 32 bytes for each chunk of the box.
 *
 * Nothing here knows of files or of HDF5. */
#ifndef H5TWIN_IO_CODED_AHEAD_H
#define H5TWIN_IO_CODED_AHEAD_H

#include "transfer.h"

#ifdef __cplusplus
extern "C" {
#endif

struct h5twin_coded_ahead;

struct h5twin_coded_ahead_counts {
    uint64_t chunks; /* of the box */
    uint64_t asked;
    uint64_t found;
};

/* Run call(context, ahead) in this thread while others encode the box, which has all elements of
 * its chunks that lie inside dims. memory must stay as it is until then. counts may be NULL.
 *
 * False: call was not run. The description is refused, there is no memory, or it would not pay:
 * fewer than two chunks, or one thread. */
bool h5twin_coded_ahead_run(const struct h5twin_transfer *transfer, const void *memory,
                            void (*call)(void *context, struct h5twin_coded_ahead *ahead),
                            void *context, struct h5twin_coded_ahead_counts *counts);

/* The encoded chunk of these values, as many bytes as a chunk has, padding included; NULL: none. It
 * stays until this is called again, and is given out once. For the thread of the run only. */
const void *h5twin_coded_ahead_take(struct h5twin_coded_ahead *ahead, const void *values,
                                    size_t *size);

#ifdef __cplusplus
}
#endif
#endif
