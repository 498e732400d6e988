/* SPDX-License-Identifier: BSD-3-Clause
 * dataset_notes.c: see dataset_notes.h. */
#include "dataset_notes.h"

/* Each dataset has one place, which the latest one takes. */
static struct h5twin_vol_note *
place_of(struct h5twin_vol_notes *notes, const void *dataset)
{
    const uint64_t mixed = (uint64_t)(uintptr_t)dataset * UINT64_C(0x9e3779b97f4a7c15);
    return &notes->notes[mixed >> 56];
}

bool
h5twin_vol_notes_find(struct h5twin_vol_notes *notes, const void *dataset, uint64_t *chunk_elements)
{
    pthread_mutex_lock(&notes->lock);
    const struct h5twin_vol_note note = *place_of(notes, dataset);
    pthread_mutex_unlock(&notes->lock);
    *chunk_elements = note.chunk_elements;
    return note.dataset == dataset;
}

void
h5twin_vol_notes_keep(struct h5twin_vol_notes *notes, const void *dataset, uint64_t chunk_elements)
{
    pthread_mutex_lock(&notes->lock);
    *place_of(notes, dataset) =
        (struct h5twin_vol_note){.dataset = dataset, .chunk_elements = chunk_elements};
    pthread_mutex_unlock(&notes->lock);
}

void
h5twin_vol_notes_forget(struct h5twin_vol_notes *notes, const void *dataset)
{
    pthread_mutex_lock(&notes->lock);
    struct h5twin_vol_note *const note = place_of(notes, dataset);
    if (note->dataset == dataset) {
        note->dataset = NULL;
    }
    pthread_mutex_unlock(&notes->lock);
}
