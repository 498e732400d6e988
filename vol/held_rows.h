/* SPDX-License-Identifier: BSD-3-Clause
 * held_rows.h: rows that a program appends to a dataset, held until their chunks are full.
 *
 * Models write a time step at a time where a chunk has many. HDF5 decodes and encodes the chunk for
 * each step, unless the chunk stays in its cache. Where a policy says append=hold, the values of
 * such writes are kept in memory, and written by one call when the chunks are full. Any call that
 * would see the difference writes them first ("settles"): see held_calls.c. A program that dies
 * loses them, which is why it must be asked for.
 *
 * What is held belongs to a dataset, whatever handle or link it is written by, and goes through the
 * handle that wrote last. When that one is closed, it is written; if that fails, the close fails,
 * and the rows stay held until the file is flushed with success. The handle is gone then: HDF5
 * frees what is behind an identifier whatever the close returns, so it must not be closed again.
 * A forked child forgets the rows: they are the parent's.
 *
 * Not held: what is no box, whole chunks, chunks that HDF5's cache has room for, values of variable
 * length, calls with a data transform or a conversion callback; files of MPI, for SWMR, or open for
 * reading; and what would take more than H5TWIN_HELD_BYTES. */
#ifndef H5TWIN_VOL_HELD_ROWS_H
#define H5TWIN_VOL_HELD_ROWS_H

#include "dataset_io.h"
#include "dataset_notes.h"

#include <stdatomic.h>

/* Where the variable H5TWIN_HELD_BYTES says nothing: of all datasets of the process. */
#define H5TWIN_HELD_BYTES ((size_t)256 << 20)

struct h5twin_vol_connector;
struct h5twin_held;

/* Of one HDF5 library. */
struct h5twin_held_rows {
    bool is_on;
    pthread_mutex_t lock; /* taken by calls from outside only: never while this thread is busy */
    struct h5twin_held *first;
    atomic_int count; /* datasets that hold rows; 0: nothing needs to be settled */
    h5twin_hid (*copy_type)(h5twin_hid type);
    int (*get_conversion)(h5twin_hid dxpl, void *call, void *context);
    int (*is_terminating)(bool *answer); /* may be NULL */
};

/* False if this HDF5 has not what it takes: then nothing is held. */
bool h5twin_held_rows_init(struct h5twin_held_rows *rows, struct h5twin_hdf5 *hdf5);

/* Find out whether the dataset's rows may be held, for its note. */
void h5twin_held_ask(struct h5twin_vol_connector *connector, void *dataset,
                     const struct h5twin_dataset_request *request, struct h5twin_vol_note *note);

enum h5twin_held_outcome {
    H5TWIN_HELD_DONE,   /* the values are taken over */
    H5TWIN_HELD_NOT,    /* write them otherwise; what the dataset held is written */
    H5TWIN_HELD_FAILED, /* what was held could not be written; HDF5's errors are on the stack */
};

/* A write to a dataset whose note says may_hold. *why says why not. To be called while busy. */
enum h5twin_held_outcome h5twin_held_write(struct h5twin_vol_connector *connector,
                                           const struct h5twin_vol_note *note, void *dataset,
                                           const struct h5twin_dataset_request *request,
                                           const void *buffer, const char **why);

/* Whether h5twin_held_write() will see a write to it. */
bool h5twin_held_is_holder(struct h5twin_vol_connector *connector, const void *dataset);

/* Write what is held of the dataset, whatever its handle; of a virtual one: all. 0, or negative
 * with HDF5's errors on the stack: then it is still held. Nothing while this thread is busy. */
int h5twin_held_settle(struct h5twin_vol_connector *connector, void *dataset, h5twin_hid dxpl);
int h5twin_held_settle_all(struct h5twin_vol_connector *connector);
int h5twin_held_settle_file(struct h5twin_vol_connector *connector, void *file, h5twin_hid dxpl);

/* The same if the new extent is smaller than the one at the last write. */
int h5twin_held_settle_extent(struct h5twin_vol_connector *connector, void *dataset,
                              const uint64_t *dims, h5twin_hid dxpl);

/* The handle is closed: what goes through it is written, and forgotten. */
int h5twin_held_close(struct h5twin_vol_connector *connector, const void *dataset);

#endif
