/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_notes.h: of datasets that are open, whether a transfer can be taken over at all.
 *
 * To ask HDF5 costs more than to write a small array. What is known is kept until the dataset is
 * closed, of a few datasets. It is a hint: whoever takes a transfer over asks HDF5 anyway. */
#ifndef H5TWIN_VOL_DATASET_NOTES_H
#define H5TWIN_VOL_DATASET_NOTES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define H5TWIN_VOL_NOTES 256

/* The same for all handles and links of one dataset, while one is open. */
struct h5twin_vol_identity {
    unsigned long file_number;
    uint8_t token[16];
};

struct h5twin_vol_note {
    const void *dataset;     /* NULL: no note */
    uint64_t chunk_elements; /* 0: no transfer can be taken over */
    bool is_cached;          /* HDF5's chunk cache has room for a chunk */
    bool is_virtual;
    /* where a policy holds rows */
    bool may_hold;
    uint64_t cache_bytes; /* of HDF5's chunk cache */
    struct h5twin_vol_identity identity;
};

/* All zeros but for the lock: empty. */
struct h5twin_vol_notes {
    pthread_mutex_t lock;
    struct h5twin_vol_note notes[H5TWIN_VOL_NOTES];
};

/* False if nothing is known of note->dataset. */
bool h5twin_vol_notes_find(struct h5twin_vol_notes *notes, struct h5twin_vol_note *note);

void h5twin_vol_notes_keep(struct h5twin_vol_notes *notes, const struct h5twin_vol_note *note);

void h5twin_vol_notes_forget(struct h5twin_vol_notes *notes, const void *dataset);

#endif
