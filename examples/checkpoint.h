/* SPDX-License-Identifier: BSD-3-Clause
 * checkpoint.h: checkpoint files that survive a crash at any moment.
 *
 * A file is written as NAME.tmp, flushed, marked with the attribute `complete`, closed, synced to
 * disk and only then renamed, so that NAME is always a whole checkpoint; h5twin checks a checksum
 * in every chunk when it reads. What a folder of them holds is in checkpoint_folder.h.
 *
 * Errors  functions return 0 or -1 with the reason on standard error (HDF5 prints its own). */
#ifndef CHECKPOINT_H
#define CHECKPOINT_H

#include "gray_scott_solver.h"

/* One dataset of a checkpoint: cells x components values. */
struct checkpoint_field {
    const char *name; /* path in the file */
    const char *spec; /* codec and parameters, as "sleek:abs=1e-3" */
    bool is_double;   /* else float */
    unsigned components;
    const void *values;
    /* what became of it */
    double raw_size, stored_size;       /* bytes */
    double write_seconds, read_seconds; /* wall time, codec and file */
    double max_error, bound;            /* 0 when lossless */
};

/* Write the state's parameters and all fields to `path`; sets their sizes and write_seconds. */
int checkpoint_write(const char *path, const struct gray_scott *sim,
                     struct checkpoint_field *fields, size_t field_count);

/* Read all fields back and compare; sets read_seconds, max_error, bound. -1 also if an error is
 * above its bound. */
int checkpoint_verify(const char *path, const struct gray_scott *sim,
                      struct checkpoint_field *fields, size_t field_count);

/* Make *sim the state in `path`, which must be complete and have the hash it was written with. */
int checkpoint_restart(const char *path, struct gray_scott *sim);

/* Which checkpoint of its folder a complete one is, by the order in which they were written: 1, 2,
 * ..., and 0 if it does not say. -1, silently, if it is not complete. */
int checkpoint_serial(const char *path, uint64_t *serial);

#endif
