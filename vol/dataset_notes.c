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
h5twin_vol_notes_find(struct h5twin_vol_notes *notes, struct h5twin_vol_note *note)
{
    pthread_mutex_lock(&notes->lock);
    const struct h5twin_vol_note found = *place_of(notes, note->dataset);
    pthread_mutex_unlock(&notes->lock);
    if (found.dataset != note->dataset) {
        return false;
    }
    *note = found;
    return true;
}

void
h5twin_vol_notes_keep(struct h5twin_vol_notes *notes, const struct h5twin_vol_note *note)
{
    pthread_mutex_lock(&notes->lock);
    *place_of(notes, note->dataset) = *note;
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
